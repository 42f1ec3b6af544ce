import { describe, expect, it } from '@jest/globals';
import { setImmediate } from 'node:timers/promises';
import { GroupCommit } from './group-commit.js';

function recording(fail: (items: readonly number[]) => boolean = () => false) {
  const groups: (readonly number[])[] = [];
  let announced = 0;
  const commit = new GroupCommit<number, string>(
    // eslint-disable-next-line require-yield
    function* (items) {
      groups.push(items);
      if (fail(items)) throw new Error('the disk is full');
      return items.map((item) => ({ kind: 'done', result: `done ${item}` }));
    },
    () => {
      announced += 1;
    },
    (item) => item,
  );
  return { commit, groups, announcements: () => announced };
}

describe('a group commit', () => {
  it('makes everything durable at once that came in the same turn', async () => {
    const { commit, groups } = recording();
    const results = await Promise.all([1, 2, 3].map((item) => commit.submit(item)));
    expect(results).toEqual(['done 1', 'done 2', 'done 3']);
    expect(groups).toEqual([[1, 2, 3]]);
  });

  it('takes what comes later into the next one', async () => {
    const { commit, groups } = recording();
    await commit.submit(1);
    await commit.submit(2);
    expect(groups).toEqual([[1], [2]]);
  });

  it('takes fewer of what is large, and what is larger than any commit alone', async () => {
    const { commit, groups } = recording();
    const sizes = [5, 2, 3, 20, 1].map((size) => size * 1024 * 1024);
    await Promise.all(sizes.map((size) => commit.submit(size)));
    expect(groups.map((group) => group.map((size) => size / 1024 / 1024))).toEqual([[5, 2], [3], [20], [1]]);
  });

  it('tells listeners once per commit, before the writers go on', async () => {
    const { commit, announcements } = recording();
    const seen = await commit.submit(1).then(announcements);
    expect(seen).toBe(1);
  });

  it('fails all of a group and nothing of the next', async () => {
    const { commit, announcements } = recording((items) => items.includes(1));
    const failed = await Promise.allSettled([commit.submit(1), commit.submit(2)]);
    expect(failed.map((outcome) => outcome.status)).toEqual(['rejected', 'rejected']);
    expect(await commit.submit(3)).toBe('done 3');
    expect(announcements()).toBe(1);
  });

  it('fails one of a group alone when the others could be done', async () => {
    const commit = new GroupCommit<number, number>(
      // eslint-disable-next-line require-yield
      function* (items) {
        return items.map((item) =>
          item === 2 ? { kind: 'failed', error: new Error('not two') } : { kind: 'done', result: item },
        );
      },
      () => undefined,
      () => 1,
    );
    const outcomes = await Promise.allSettled([1, 2, 3].map((item) => commit.submit(item)));
    expect(outcomes).toEqual([
      { status: 'fulfilled', value: 1 },
      { status: 'rejected', reason: new Error('not two') },
      { status: 'fulfilled', value: 3 },
    ]);
  });

  it('splits what is more than a thousand, in order', async () => {
    const { commit, groups } = recording();
    await Promise.all(Array.from({ length: 2_500 }, (_, item) => commit.submit(item)));
    expect(groups.map((group) => group.length)).toEqual([1_000, 1_000, 500]);
    expect(groups.flat()).toEqual(Array.from({ length: 2_500 }, (_, item) => item));
  });

  it('gives others a turn between the steps of a commit, and takes none of theirs in', async () => {
    const happened: string[] = [];
    const commit = new GroupCommit<number, number>(
      function* (items) {
        for (const item of items) {
          happened.push(`step ${item}`);
          yield;
        }
        return items.map((item) => ({ kind: 'done', result: item }));
      },
      () => happened.push('committed'),
      () => 1,
    );
    const first = Promise.all([commit.submit(1), commit.submit(2), commit.submit(3)]);
    await setImmediate();
    happened.push('a turn of another');
    const later = commit.submit(4);
    await first;
    expect(happened).toEqual(['step 1', 'a turn of another', 'step 2', 'step 3', 'committed']);
    commit.flush();
    expect(happened.slice(5)).toEqual(['step 4', 'committed']);
    expect(await later).toBe(4);
  });

  it('commits what waits when it is flushed', async () => {
    const { commit, groups } = recording();
    const waiting = commit.submit(1);
    commit.flush();
    expect(groups).toEqual([[1]]);
    await waiting;
    await setImmediate();
    expect(groups).toHaveLength(1);
  });
});
