import { describe, expect, it } from '@jest/globals';
import type { AuditProgress } from '../projection-engine/audit/audit.js';
import { AuditProgressView } from './audit-progress.js';
import { duration, FoldProgress } from './progress.js';

/** What is no terminal. */
class Lines {
  readonly lines: string[] = [];
  readonly isTTY = false;
  time = 0;

  readonly now = (): number => this.time;

  write(line: string): boolean {
    this.lines.push(line);
    return true;
  }

  get stream(): NodeJS.WriteStream {
    return this as unknown as NodeJS.WriteStream;
  }
}

describe('the progress of a fold, where there is no terminal', () => {
  it('is a line every ten seconds, with the rate of the last five and what is left at that pace', () => {
    const out = new Lines();
    const progress = new FoldProgress(1_000n, 11_000n, out.stream, out.now);
    for (let second = 0; second <= 20; second += 1) {
      out.time = second * 1_000;
      progress.show({ events: second * 40, position: 1_000n + BigInt(second * 400) });
    }
    expect(out.lines).toEqual([
      'rollcall: 0 % | 0 events | 0 events/s | … left\n',
      'rollcall: 40 % | 400 events | 40 events/s | 15 s left\n',
      'rollcall: 80 % | 800 events | 40 events/s | 5 s left\n',
    ]);
  });

  it('says that nothing is left when the fold went further than it set out to', () => {
    const out = new Lines();
    const progress = new FoldProgress(0n, 100n, out.stream, out.now);
    progress.show({ events: 1, position: 50n });
    out.time = 10_000;
    progress.show({ events: 3, position: 150n });
    expect(out.lines.at(-1)).toBe('rollcall: 100 % | 3 events | 0 events/s | 0 s left\n');
  });
});

describe('the progress of an audit, where there is no terminal', () => {
  const at = (progress: Partial<AuditProgress>): AuditProgress => ({
    phase: 'folding',
    events: 0,
    position: null,
    target: null,
    rows: 0,
    ...progress,
  });

  it('is that of its first fold, then a line every ten seconds', () => {
    const out = new Lines();
    const view = new AuditProgressView(out.stream, out.now);
    view.show(at({}));
    view.show(at({ target: 99n, position: 49n, events: 5 }));
    for (const seconds of [1, 10, 11, 19, 20]) {
      out.time = seconds * 1_000;
      view.show(at({ phase: 'comparing', rows: seconds }));
    }
    view.show(at({ target: 150n, position: 99n }));
    out.time = 30_000;
    view.show(at({ phase: 'tracing' }));
    view.end();
    expect(out.lines).toEqual([
      'rollcall: 10 rows compared\n',
      'rollcall: 20 rows compared\n',
      'rollcall: looking for the events behind the differences\n',
    ]);
  });
});

it.each([
  [0.2, '1 s'],
  [59.5, '1 min 0 s'],
  [185, '3 min 5 s'],
  [7_800, '2 h 10 min'],
])('%s seconds are %s', (seconds, text) => {
  expect(duration(seconds)).toBe(text);
});
