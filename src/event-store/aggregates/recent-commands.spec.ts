import { describe, expect, it } from '@jest/globals';
import type { CommandRecord } from '../recorded-event.js';
import { RecentCommands } from './recent-commands.js';

const record = (key: string, hash = 'h'): CommandRecord => ({
  keys: [{ key, hash }],
  status: 201,
  result: { session_id: key },
});

function filled(count: number): RecentCommands {
  const recent = new RecentCommands(-1n);
  for (let index = 0; index < count; index += 1) recent.add(record(`k${index}`), BigInt(index));
  return recent;
}

describe('the commands that the read model may not hold yet', () => {
  it('are found by each of their keys, and the first holder stands', () => {
    const recent = new RecentCommands(-1n);
    recent.add(
      {
        ...record('a'),
        keys: [
          { key: 'a', hash: '1' },
          { key: 'b', hash: '2' },
        ],
      },
      5n,
    );
    recent.add(record('b', 'late'), 9n);
    expect(recent.find({ key: 'a', hash: 'any' })).toMatchObject({ hash: '1', position: 5n });
    expect(recent.find({ key: 'b', hash: 'any' })).toMatchObject({ hash: '2', position: 5n });
    expect(recent.find({ key: 'c', hash: 'any' })).toBeUndefined();
  });

  it('are all kept while they are few, whatever the checkpoint', () => {
    const recent = filled(256);
    recent.prune(1_000n);
    expect(recent.coveredFrom).toBe(-1n);
    expect(recent.find({ key: 'k0', hash: 'h' })).toBeDefined();
  });

  it('are forgotten up to the checkpoint when they are many, and never beyond it', () => {
    const recent = filled(300);
    recent.prune(99n);
    expect(recent.find({ key: 'k99', hash: 'h' })).toBeUndefined();
    expect(recent.find({ key: 'k100', hash: 'h' })).toBeDefined();
    expect(recent.coveredFrom).toBe(99n);
  });

  it('are kept while nothing is projected', () => {
    const recent = filled(300);
    recent.prune(-1n);
    expect(recent.coveredFrom).toBe(-1n);
    expect(recent.find({ key: 'k0', hash: 'h' })).toBeDefined();
  });
});
