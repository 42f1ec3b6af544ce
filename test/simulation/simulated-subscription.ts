import { EventEmitter } from 'node:events';
import type { ReadFrame } from '../../src/event-store/read-frames.js';
import type { RawEvent } from '../../src/event-store/recorded-event.js';
import type { Machine, Simulator } from './simulator.js';

/** With the head of the log when "caught up" was sent. */
type Message = { readonly frame: ReadFrame; readonly head: bigint };

export interface Source {
  readonly events: readonly RawEvent[];
  /** Of whatever lies in the log, other applications' events included. */
  readonly head: bigint;
}

const CLIENT_BUFFER = 6;
/** After so long without an answer to its pings the client knows that the connection is dead. */
const KEEP_ALIVE_MS = 20_000;

/** The call of a filtered subscription: its messages come in bursts, through a buffer, in their order. */
export class SimulatedSubscription extends EventEmitter {
  private readonly wire: Message[] = [];
  private readonly buffer: Message[] = [];
  private sent = 0;
  private framed: bigint;
  private saidCaughtUp = false;
  private pumping = false;
  private draining = false;
  private receiving = false;
  private paused = false;
  private over = false;
  /** Something was swallowed: nothing comes through any more, though nobody says so. */
  private stale = false;
  /** The head of the log when the "caught up" that came first was sent. */
  caughtUpAt: bigint | null = null;

  constructor(
    private readonly simulator: Simulator,
    private readonly machine: Machine,
    private readonly source: Source,
    from: bigint,
    private readonly isHostile: () => boolean,
  ) {
    super();
    this.framed = from;
    this.sent = source.events.findIndex(({ position }) => position > from);
    if (this.sent < 0) this.sent = source.events.length;
    this.appended();
  }

  pause(): this {
    this.paused = true;
    return this;
  }

  resume(): this {
    this.paused = false;
    this.drainLater();
    return this;
  }

  cancel(): void {
    this.over = true;
  }

  destroy(): this {
    this.over = true;
    this.simulator.after(0, this.machine, 'subscription closes', () => this.emit('close'));
    return this;
  }

  /** The connection is lost, and the client hears of it. */
  cut(): void {
    if (this.over) return;
    this.over = true;
    this.simulator.after(this.simulator.latency(), this.machine, 'loses its subscription', () => {
      this.emit('error', new Error('connection to the log lost'));
      this.emit('close');
    });
  }

  /** There is, or may be, more in the log. */
  appended(): void {
    if (this.pumping || this.over) return;
    this.pumping = true;
    this.simulator.after(this.simulator.latency(), null, `log sends to ${this.machine.name}`, () => {
      this.pumping = false;
      if (!this.over && !this.machine.dead) this.pump();
    });
  }

  private pump(): void {
    const { simulator, source } = this;
    for (let burst = simulator.between(1, 8); burst > 0; burst -= 1) {
      const raw = source.events[this.sent];
      if (!raw) break;
      this.sent += 1;
      this.send(eventFrame(raw));
      const again = source.events[this.sent - simulator.between(1, 4)];
      if (again && this.isHostile() && simulator.chance(0.05)) this.send(eventFrame(again));
      if (simulator.chance(0.3)) this.sendFrame();
    }
    if (this.sent < source.events.length) return this.appended();
    this.sendFrame();
    if (this.saidCaughtUp) return;
    this.saidCaughtUp = true;
    this.send({ kind: 'caught-up' });
  }

  /** Everything up to some place before the next event has been considered. */
  private sendFrame(): void {
    const last = this.source.events[this.sent - 1]?.position ?? -1n;
    const next = this.source.events[this.sent]?.position ?? this.source.head + 1n;
    const position = this.simulator.chance(0.5) ? next - 1n : last;
    if (position <= this.framed) return;
    this.framed = position;
    this.send({ kind: 'checkpoint', position });
  }

  private send(frame: ReadFrame): void {
    if (this.machine.logHole && !this.stale) {
      this.stale = true;
      if (this.simulator.chance(0.5))
        this.simulator.after(KEEP_ALIVE_MS, null, 'log connection found dead', () => this.cut());
    }
    if (this.stale) return;
    this.wire.push({ frame, head: this.source.events.at(-1)?.position ?? -1n });
    this.receiveLater();
  }

  private receiveLater(): void {
    if (this.receiving || this.over || this.wire.length === 0) return;
    this.receiving = true;
    this.simulator.after(this.simulator.latency(), this.machine, 'receives', () => {
      this.receiving = false;
      for (let count = this.simulator.between(1, 8); count > 0; count -= 1) this.receive();
      if (this.buffer.length < CLIENT_BUFFER) this.receiveLater();
    });
  }

  private receive(): void {
    if (this.over || this.buffer.length >= CLIENT_BUFFER) return;
    const message = this.wire.shift();
    if (!message) return;
    this.buffer.push(message);
    this.drainLater();
  }

  private drainLater(): void {
    if (this.draining || this.buffer.length === 0) return;
    this.draining = true;
    this.simulator.after(this.simulator.between(0, 3), this.machine, 'drains', () => {
      this.draining = false;
      this.drain();
    });
  }

  private drain(): void {
    for (let count = this.simulator.between(1, 4); count > 0 && !this.paused && !this.over; count -= 1) {
      const message = this.buffer.shift();
      if (!message) break;
      this.hand(message);
    }
    if (this.over) return;
    this.receiveLater();
    if (!this.paused) this.drainLater();
  }

  private hand({ frame, head }: Message): void {
    if (frame.kind === 'checkpoint') this.simulator.note(`  frame ${frame.position}`);
    if (frame.kind === 'caught-up') {
      this.simulator.note(`  caught up at ${head}`);
      this.caughtUpAt ??= head;
    }
    this.emit('data', frame);
  }
}

function eventFrame(raw: RawEvent): ReadFrame {
  return { kind: 'event', raw };
}
