import { describe, expect, it } from '@jest/globals';
import { Outage } from './outage.js';

describe('an outage of the log', () => {
  function at(): { outage: Outage; clock: { now: number }; told: () => number } {
    const clock = { now: 0 };
    let told = 0;
    const outage = new Outage(
      () => (told += 1),
      () => clock.now,
    );
    return { outage, clock, told: () => told };
  }

  it('is known once calls have failed for a while, not after one hiccup', () => {
    const { outage, clock, told } = at();
    clock.now = 100;
    outage.failed(0);
    expect([outage.known, told()]).toEqual([false, 0]);
    clock.now = 5_000;
    outage.failed(4_000);
    expect([outage.known, told()]).toEqual([true, 1]);
  });

  it('refuses at once while somebody is trying, and lets one try when nobody is', () => {
    const { outage, clock } = at();
    clock.now = 5_000;
    outage.failed(0);
    outage.begin();
    expect(() => outage.begin()).toThrow(expect.objectContaining({ outcome: 'nothing-written' }));
    outage.end();
    expect(() => outage.begin()).not.toThrow();
  });

  it('is over with the first success, whatever older calls say later', () => {
    const { outage, clock } = at();
    clock.now = 5_000;
    outage.failed(0);
    clock.now = 6_000;
    outage.succeeded();
    outage.failed(5_500);
    expect(outage.known).toBe(false);
    clock.now = 12_000;
    outage.failed(6_500);
    expect(outage.known).toBe(true);
  });

  it('is forgotten when nothing has failed for longer than one attempt', () => {
    const { outage, clock } = at();
    clock.now = 5_000;
    outage.failed(0);
    clock.now = 10_999;
    expect(outage.known).toBe(true);
    clock.now = 11_000;
    expect(outage.known).toBe(false);
  });
});
