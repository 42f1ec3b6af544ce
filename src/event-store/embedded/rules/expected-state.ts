/** What a writer says it knows about the stream. */
export type ExpectedState =
  | { readonly kind: 'any' }
  | { readonly kind: 'no-stream' }
  | { readonly kind: 'stream-exists' }
  | { readonly kind: 'exact'; readonly revision: bigint };

export const NO_EVENTS = -1n;
/** The revision of a tombstone, and the `$tb` of a soft deletion. */
export const LAST_REVISION = 2n ** 63n - 1n;

/** The stream as the writer finds it. `lastRevision` is -1 when the stream holds no event. */
export interface StreamCondition {
  readonly lastRevision: bigint;
  readonly hasMetadata: boolean;
  readonly softDeleted: boolean;
}

export type Verdict =
  | { readonly kind: 'write' }
  | { readonly kind: 'wrong-expected-version' }
  | { readonly kind: 'stream-deleted' }
  /** The writer is behind: either its events are already there from `firstRevision` on, or it conflicts. */
  | { readonly kind: 'compare'; readonly firstRevision: bigint }
  /** No revision to compare at: only the memory of recent ids can tell a retry from a new write. */
  | { readonly kind: 'recall' };

/** Which expectations hold for which stream; those that need the log are left to its writer. */
export function judgeExpectedState(expected: ExpectedState, stream: StreamCondition): Verdict {
  switch (expected.kind) {
    case 'any':
      return { kind: 'recall' };
    case 'stream-exists':
      if (stream.softDeleted) return { kind: 'stream-deleted' };
      if (stream.lastRevision === NO_EVENTS && !stream.hasMetadata) return { kind: 'wrong-expected-version' };
      return { kind: 'recall' };
    case 'no-stream':
      return judgeRevision(NO_EVENTS, stream);
    case 'exact':
      return judgeRevision(expected.revision, stream);
    default:
      return expected satisfies never;
  }
}

function judgeRevision(expected: bigint, stream: StreamCondition): Verdict {
  if (expected === stream.lastRevision) return { kind: 'write' };
  if (expected > stream.lastRevision) return { kind: 'wrong-expected-version' };
  return { kind: 'compare', firstRevision: expected + 1n };
}
