const KINDS = ['session', 'delegations', 'agent', 'runner'] as const;
export type StreamKind = (typeof KINDS)[number];

/** Every stream of Rollcall begins with one configurable prefix, on a log that others may share (design 3). */
export class StreamNames {
  constructor(private readonly prefix: string) {}

  session(id: string): string {
    return `${this.prefix}session-${id}`;
  }

  agent(id: string): string {
    return `${this.prefix}agent-${id}`;
  }

  log(): string {
    return `${this.prefix}log`;
  }

  /** What the engine's one subscription asks the server for; blob streams are left out. */
  projected(): string[] {
    return [...KINDS.map((kind) => `${this.prefix}${kind}-`), this.log()];
  }

  /** The aggregate instance that a stream belongs to; the log's own stream names itself. */
  subjectOf(stream: string): string {
    const name = stream.startsWith(this.prefix) ? stream.slice(this.prefix.length) : stream;
    const kind = KINDS.find((candidate) => name.startsWith(`${candidate}-`));
    return kind ? name.slice(kind.length + 1) : name;
  }
}
