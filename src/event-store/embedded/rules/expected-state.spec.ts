import { describe, expect, it } from '@jest/globals';
import type { ExpectedState, StreamCondition } from './expected-state.js';
import { judgeExpectedState } from './expected-state.js';

const absent: StreamCondition = { lastRevision: -1n, hasMetadata: false, softDeleted: false };
const five: StreamCondition = { lastRevision: 4n, hasMetadata: false, softDeleted: false };
const onlyMetadata: StreamCondition = { lastRevision: -1n, hasMetadata: true, softDeleted: false };
const softDeleted: StreamCondition = { lastRevision: 4n, hasMetadata: true, softDeleted: true };
const exact = (revision: bigint): ExpectedState => ({ kind: 'exact', revision });

describe('judging what a writer expects', () => {
  it.each<[string, ExpectedState, StreamCondition, string]>([
    ['any on nothing', { kind: 'any' }, absent, 'recall'],
    ['any on events', { kind: 'any' }, five, 'recall'],
    ['no stream on nothing', { kind: 'no-stream' }, absent, 'write'],
    ['no stream on events', { kind: 'no-stream' }, five, 'compare'],
    ['the last revision', exact(4n), five, 'write'],
    ['an earlier revision', exact(1n), five, 'compare'],
    ['a later revision', exact(5n), five, 'wrong-expected-version'],
    ['a revision on nothing', exact(0n), absent, 'wrong-expected-version'],
    ['existence on events', { kind: 'stream-exists' }, five, 'recall'],
    ['existence on nothing', { kind: 'stream-exists' }, absent, 'wrong-expected-version'],
    ['existence on metadata alone', { kind: 'stream-exists' }, onlyMetadata, 'recall'],
    ['existence on a soft-deleted stream', { kind: 'stream-exists' }, softDeleted, 'stream-deleted'],
    ['the last revision of a soft-deleted stream', exact(4n), softDeleted, 'write'],
  ])('%s', (_name, expected, condition, verdict) => {
    expect(judgeExpectedState(expected, condition).kind).toBe(verdict);
  });

  it('compares a retry from the revision behind the expected one', () => {
    expect(judgeExpectedState(exact(1n), five)).toEqual({ kind: 'compare', firstRevision: 2n });
    expect(judgeExpectedState({ kind: 'no-stream' }, five)).toEqual({ kind: 'compare', firstRevision: 0n });
  });
});
