import type { Paint } from './rail/paint.js';
import { painted, unpainted } from './rail/paint.js';
import { fit } from '../text/terminal-text.js';

const NO_TERMINAL_WIDTH = 100;
const WIDEST = 120;
const NARROWEST = 40;
const BAR = 24;

/** Where the demo writes: lines everywhere, and on a terminal a progress line that keeps to the bottom. */
export class Screen {
  readonly width: number;
  readonly paint: Paint;
  private readonly live: boolean;
  private progressShown = false;

  constructor(
    private readonly out: NodeJS.WriteStream,
    env: Readonly<Record<string, string | undefined>>,
  ) {
    const terminal = out.isTTY && env['TERM'] !== 'dumb';
    this.live = terminal;
    this.paint = terminal && !env['NO_COLOR'] ? painted : unpainted;
    const columns = out.isTTY ? out.columns : NO_TERMINAL_WIDTH;
    this.width = Math.max(NARROWEST, Math.min(columns, WIDEST));
  }

  line(text = ''): void {
    this.clear();
    this.out.write(`${text}\n`);
  }

  progress(done: number, total: number, what: string): void {
    if (!this.live) return;
    this.clear();
    const filled = Math.round((BAR * done) / total);
    const bar = `${'━'.repeat(filled)}${'╌'.repeat(BAR - filled)}`;
    // One column stays free: a full line would wrap and could not be cleared.
    this.out.write(this.paint('cyan', fit(`  ${bar}  ${done}/${total}  ${what}`, this.width - 1)));
    this.progressShown = true;
  }

  clear(): void {
    if (this.progressShown) this.out.write('\r\u001b[2K');
    this.progressShown = false;
  }
}
