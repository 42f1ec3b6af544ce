/** What a writer expects, in the client's words. */
export type Expected = 'any' | 'no_stream' | 'stream_exists' | bigint;

export type ModelOutcome =
  | { readonly kind: 'written'; readonly lastRevision: bigint }
  | { readonly kind: 'wrong-expected-version' }
  | { readonly kind: 'stream-deleted' };

export type ModelRead =
  | { readonly kind: 'events'; readonly ids: readonly string[] }
  | { readonly kind: 'stream-not-found' }
  | { readonly kind: 'stream-deleted' };

/** One stream as its rules have it, in the plainest way: a list of ids and what is hidden of it. */
export class StreamModel {
  private readonly ids: string[] = [];
  private truncateBefore = 0;
  private maxCount: number | undefined;
  private hasMetadata = false;
  private softDeleted = false;
  private tombstoned = false;
  deletedEver = false;

  /** Ids in the order in which they were written, hidden ones included. */
  get written(): readonly string[] {
    return this.ids;
  }

  append(expected: Expected, ids: readonly string[]): ModelOutcome {
    if (this.tombstoned) return { kind: 'stream-deleted' };
    if (expected === 'stream_exists') {
      if (this.softDeleted) return { kind: 'stream-deleted' };
      if (this.ids.length === 0 && !this.hasMetadata) return { kind: 'wrong-expected-version' };
    }
    const expectedCount =
      expected === 'no_stream' ? 0 : typeof expected === 'bigint' ? Number(expected) + 1 : undefined;
    if (expectedCount !== undefined && expectedCount !== this.ids.length) {
      const there = this.ids.slice(expectedCount, expectedCount + ids.length);
      if (ids.length > 0 && there.length === ids.length && there.every((id, index) => id === ids[index])) {
        return { kind: 'written', lastRevision: BigInt(expectedCount + ids.length - 1) };
      }
      if (!(expected === 'no_stream' && this.softDeleted)) return { kind: 'wrong-expected-version' };
    }
    if (this.softDeleted && ids.length > 0) {
      this.softDeleted = false;
      this.truncateBefore = this.ids.length;
      this.maxCount = undefined;
    }
    this.ids.push(...ids);
    return { kind: 'written', lastRevision: BigInt(this.ids.length - 1) };
  }

  softDelete(expected: Expected): ModelOutcome {
    const refusal = this.refuseDeletion(expected);
    if (refusal !== undefined) return refusal;
    if (this.ids.length === 0 && !this.hasMetadata) return { kind: 'wrong-expected-version' };
    this.softDeleted = true;
    this.hasMetadata = true;
    this.deletedEver = true;
    return { kind: 'written', lastRevision: BigInt(this.ids.length - 1) };
  }

  tombstone(expected: Expected): ModelOutcome {
    const refusal = this.refuseDeletion(expected);
    if (refusal !== undefined) return refusal;
    this.tombstoned = true;
    return { kind: 'written', lastRevision: 2n ** 63n - 1n };
  }

  private refuseDeletion(expected: Expected): ModelOutcome | undefined {
    if (this.tombstoned) return { kind: 'stream-deleted' };
    const asExpected =
      typeof expected === 'bigint'
        ? expected === BigInt(this.ids.length - 1)
        : expected !== 'no_stream' || this.ids.length === 0 || this.softDeleted;
    return asExpected ? undefined : { kind: 'wrong-expected-version' };
  }

  setMetadata(metadata: { maxCount?: number; truncateBefore?: number }): ModelOutcome {
    if (this.tombstoned) return { kind: 'stream-deleted' };
    this.truncateBefore = this.softDeleted ? this.ids.length : (metadata.truncateBefore ?? 0);
    this.maxCount = metadata.maxCount;
    this.softDeleted = false;
    this.hasMetadata = true;
    return { kind: 'written', lastRevision: 0n };
  }

  read(): ModelRead {
    if (this.tombstoned) return { kind: 'stream-deleted' };
    if (this.ids.length === 0 || this.softDeleted) return { kind: 'stream-not-found' };
    const byCount = this.maxCount === undefined ? 0 : this.ids.length - this.maxCount;
    return { kind: 'events', ids: this.ids.slice(Math.max(this.truncateBefore, byCount, 0)) };
  }
}
