import cliProgress from 'cli-progress';

const FORMAT = '{bar} {percentage} % | {events} events | {rate} events/s | {left} left';
/** Where there is no terminal, one line so often. */
const LINE_MS = 10_000;
const REDRAW_PER_SECOND = 10;
/** The rate is that of so much of the past. */
const WINDOW_MS = 5_000;

/** How far a fold of the log has come: by position, since how many events there are is not known before. */
export class FoldProgress {
  private readonly bar: cliProgress.SingleBar | null;
  private samples: { at: number; events: number; position: number }[] = [];
  private told: number;
  private readonly total: number;

  constructor(
    private readonly from: bigint,
    to: bigint,
    private readonly stream: NodeJS.WriteStream = process.stderr,
    private readonly now: () => number = () => performance.now(),
    /** Milliseconds that pass without a line, for what is soon over. */
    silence = 0,
  ) {
    this.total = Math.max(1, Number(to - from));
    this.told = now() - LINE_MS + silence;
    this.bar = stream.isTTY
      ? new cliProgress.SingleBar(
          { format: FORMAT, stream, fps: REDRAW_PER_SECOND, hideCursor: true, clearOnComplete: false },
          cliProgress.Presets.shades_classic,
        )
      : null;
    this.bar?.start(this.total, 0, { events: 0, rate: 0, left: '…' });
  }

  show({ events, position }: { readonly events: number; readonly position: bigint }): void {
    const made = Math.min(this.total, Math.max(0, Number(position - this.from)));
    const figures = this.figures(events, made);
    if (this.bar) this.bar.update(made, figures);
    else this.line(made, figures);
  }

  end(): void {
    this.bar?.stop();
  }

  private line(made: number, { events, rate, left }: ReturnType<FoldProgress['figures']>): void {
    const now = this.now();
    if (now - this.told < LINE_MS) return;
    this.told = now;
    const percent = Math.floor((100 * made) / this.total);
    this.stream.write(`rollcall: ${percent} % | ${events} events | ${rate} events/s | ${left} left\n`);
  }

  private figures(events: number, made: number): { events: number; rate: number; left: string } {
    const now = this.now();
    this.samples.push({ at: now, events, position: made });
    while (this.samples.length > 2 && now - (this.samples[1]?.at ?? now) > WINDOW_MS) this.samples.shift();
    const first = this.samples[0] ?? { at: now, events, position: made };
    const seconds = (now - first.at) / 1000;
    if (seconds <= 0) return { events, rate: 0, left: '…' };
    const speed = (made - first.position) / seconds;
    return {
      events,
      rate: Math.round((events - first.events) / seconds),
      left: speed > 0 ? duration((this.total - made) / speed) : '…',
    };
  }
}

/** `42 s`, `3 min 5 s`, `2 h 10 min`. */
export function duration(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}
