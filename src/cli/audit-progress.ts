import type { AuditProgress } from '../projection-engine/audit/audit.js';
import { FoldProgress } from './progress.js';

/** Between two lines about what comes after the fold: for a person, and for a log. */
const LINE_MS = { terminal: 2_000, log: 10_000 };
/** Before the first event. */
const NOWHERE = -1n;

/** How far an audit has come: a fold of the log, then lines while rows are compared and events looked for. */
export class AuditProgressView {
  private fold: FoldProgress | null = null;
  private told: number;
  private folded = false;

  constructor(
    private readonly stream: NodeJS.WriteStream = process.stderr,
    private readonly now: () => number = () => performance.now(),
  ) {
    this.told = now();
  }

  show(progress: AuditProgress): void {
    if (progress.phase !== 'folding') return this.line(progress);
    const { target, events, position } = progress;
    // Later folds go on to a new checkpoint of a live set, and take a moment.
    if (this.folded || target === null) return;
    this.fold ??= new FoldProgress(NOWHERE, target, this.stream, this.now, LINE_MS.log);
    this.fold.show({ events, position: position ?? NOWHERE });
  }

  end(): void {
    this.folded = true;
    this.fold?.end();
    this.fold = null;
  }

  private line({ phase, rows }: AuditProgress): void {
    this.end();
    if (this.now() - this.told < LINE_MS[this.stream.isTTY ? 'terminal' : 'log']) return;
    this.told = this.now();
    const text =
      phase === 'comparing' ? `${rows} rows compared` : 'looking for the events behind the differences';
    this.stream.write(`rollcall: ${text}\n`);
  }
}
