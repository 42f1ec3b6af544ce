import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { InFlightKeys } from './in-flight-keys.js';

const key = (name: string): { key: string; hash: string } => ({ key: name, hash: 'h' });

/** Work that ends when the test says so. */
function work(): {
  run: () => Promise<string>;
  end: (result: string) => void;
  fail: (error: Error) => void;
  started: () => boolean;
} {
  let begun = false;
  let end: (result: string) => void = () => undefined;
  let fail: (error: Error) => void = () => undefined;
  const promise = new Promise<string>((resolve, reject) => {
    end = resolve;
    fail = reject;
  });
  const run = (): Promise<string> => {
    begun = true;
    return promise;
  };
  return { run, end, fail, started: () => begun };
}

describe('keys in flight', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('let one request at a time through, and the next when it is over', async () => {
    const keys = new InFlightKeys();
    const [first, second] = [work(), work()];
    const answers = [keys.alone([key('a')], first.run), keys.alone([key('b'), key('a')], second.run)];
    await jest.advanceTimersByTimeAsync(0);
    expect([first.started(), second.started()]).toEqual([true, false]);
    first.end('one');
    await jest.advanceTimersByTimeAsync(0);
    expect(second.started()).toBe(true);
    second.end('two');
    expect(await Promise.all(answers)).toEqual(['one', 'two']);
  });

  it('hold nobody up who has other keys, or none', async () => {
    const keys = new InFlightKeys();
    void keys.alone([key('a')], work().run);
    const others = [work(), work(), work()];
    void keys.alone([key('b')], others[0]?.run ?? work().run);
    void keys.alone([], others[1]?.run ?? work().run);
    void keys.alone([], others[2]?.run ?? work().run);
    await jest.advanceTimersByTimeAsync(0);
    expect(others.map((other) => other.started())).toEqual([true, true, true]);
  });

  it('are free again after a failure', async () => {
    const keys = new InFlightKeys();
    const failing = work();
    const answer = keys.alone([key('a')], failing.run);
    failing.fail(new Error('boom'));
    await expect(answer).rejects.toThrow('boom');
    expect(await keys.alone([key('a')], async () => 'again')).toBe('again');
  });

  it('are refused when the twin takes longer than 10 s (api.md 1)', async () => {
    const keys = new InFlightKeys();
    void keys.alone([key('a')], work().run);
    const late = work();
    const answer = keys.alone([key('a')], late.run);
    await jest.advanceTimersByTimeAsync(10_001);
    expect(await answer).toMatchObject({ refused: true, code: 'idempotency_in_progress' });
    expect(late.started()).toBe(false);
  });
});
