/** Which thing of this run stands for which of the recording. */
export class IdMap {
  private readonly known = new Map<string, string>();

  learn(recorded: string, own: string): void {
    this.known.set(recorded, own);
  }

  /** Throws when the recording names something that it has not created before. */
  of(recorded: string): string {
    const own = this.known.get(recorded);
    if (own === undefined) throw new Error(`the recording names ${recorded} before it creates it`);
    return own;
  }

  ofNullable(recorded: string | null): string | null {
    return recorded === null ? null : this.of(recorded);
  }
}

/** Prompts are keyed with their session. */
export function promptKey(sessionId: string, elicitationId: string): string {
  return `${sessionId}/${elicitationId}`;
}
