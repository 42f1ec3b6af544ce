import type { AuditProgress } from '../projection-engine/audit/audit.js';

const EVERY_MS = 2_000;

/** Says on stderr how far an audit has come; for a person, so only on a terminal. */
export function auditProgress(): { show(progress: AuditProgress): void; end(): void } {
  let next = performance.now() + EVERY_MS;
  return {
    show: (progress) => {
      if (!process.stderr.isTTY || performance.now() < next) return;
      next = performance.now() + EVERY_MS;
      process.stderr.write(`rollcall: ${lineOf(progress)}\n`);
    },
    end: () => undefined,
  };
}

function lineOf({ phase, events, position, target, rows }: AuditProgress): string {
  switch (phase) {
    case 'folding':
      return `${events} events folded, position ${position ?? 'none'} of ${target ?? 'none'}`;
    case 'comparing':
      return `${rows} rows compared`;
    case 'tracing':
      return 'looking for the events behind the differences';
  }
}
