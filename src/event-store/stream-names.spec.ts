import { describe, expect, it } from '@jest/globals';
import { StreamNames } from './stream-names.js';

const names = new StreamNames('rollcall.');

describe('stream names', () => {
  it('begin with the prefix and a kind', () => {
    expect(names.session('conv_1')).toBe('rollcall.session-conv_1');
    expect(names.agent('ag_1')).toBe('rollcall.agent-ag_1');
    expect(names.log()).toBe('rollcall.log');
  });

  it.each<[string, string]>([
    ['rollcall.session-conv_1', 'conv_1'],
    ['rollcall.agent-ag-1', 'ag-1'],
    ['rollcall.delegations-user:ann', 'user:ann'],
    ['rollcall.session-session-x', 'session-x'],
    ['rollcall.log', 'log'],
  ])('%s belongs to %s', (stream, subject) => {
    expect(names.subjectOf(stream)).toBe(subject);
  });

  it('that are projected leave out blobs and other applications', () => {
    const isProjected = (stream: string): boolean =>
      names.projected().some((prefix) => stream.startsWith(prefix));
    expect([names.session('x'), names.agent('x'), names.log()].every(isProjected)).toBe(true);
    expect(['rollcall.blob-ff', 'other.session-x', '$ce-rollcall'].some(isProjected)).toBe(false);
  });
});
