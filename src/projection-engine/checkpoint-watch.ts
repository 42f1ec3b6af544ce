import pg from 'pg';
import { CONNECT_MS, type Database } from '../database/database.js';
import type { Position } from '../event-store/position.js';
import { CHECKPOINT_CHANNEL } from './batch-statement.js';
import { PARKING_CHANNEL } from './parking.js';
import type { CheckpointSink } from './ports.js';
import { schemaOf } from './set-version.js';

/** While somebody waits; a notification usually comes first, but it is only a hint. */
const POLL_WAITING_MS = 50;
const POLL_IDLE_MS = 1_000;
const RECONNECT_MS = 500;

interface Waiter {
  readonly position: Position;
  readonly settle: (reached: boolean) => void;
}

/** How far the read models have come, as one node knows it: told by its own engine, by NOTIFY, or by polling. */
export class CheckpointWatch implements CheckpointSink {
  private reached: Position = -1n;
  private readonly waiters = new Set<Waiter>();
  private listener: pg.Client | null = null;
  private timer: NodeJS.Timeout | null = null;
  private stopped = false;
  private filled = false;
  private heardParking: () => void = () => undefined;

  constructor(
    private readonly database: Database,
    private readonly setVersion: string,
  ) {}

  async start(): Promise<void> {
    await this.poll();
    void this.listen();
  }

  get position(): Position {
    return this.reached;
  }

  /** Told that a stream of this set was parked, freed or asked for; a hint only. */
  onParking(listener: () => void): void {
    this.heardParking = listener;
  }

  /** Whether the set has ever held all that the log held; until then it must not be read. */
  get isFilled(): boolean {
    return this.filled;
  }

  markFilled(): void {
    this.filled = true;
  }

  advance(position: Position): void {
    if (position <= this.reached) return;
    this.reached = position;
    for (const waiter of this.waiters) {
      if (waiter.position <= position) waiter.settle(true);
    }
  }

  /** The owner has read what is committed: a crash of Postgres may have taken the last commits back. */
  restart(position: Position): void {
    this.reached = position;
  }

  /** True once everything up to `position` is in the read models, false when that took too long. */
  waitFor(position: Position, milliseconds: number): Promise<boolean> {
    if (position <= this.reached) return Promise.resolve(true);
    return new Promise((resolve) => {
      const settle = (reached: boolean): void => {
        clearTimeout(limit);
        this.waiters.delete(waiter);
        resolve(reached);
      };
      const waiter: Waiter = { position, settle };
      const limit = setTimeout(() => settle(false), milliseconds);
      this.waiters.add(waiter);
      if (this.waiters.size === 1) this.schedule(POLL_WAITING_MS);
    });
  }

  async stop(): Promise<void> {
    this.stopped = true;
    if (this.timer) clearTimeout(this.timer);
    for (const waiter of this.waiters) waiter.settle(false);
    await this.listener?.end().catch(() => undefined);
  }

  private async poll(): Promise<void> {
    try {
      const schema = schemaOf(this.setVersion);
      const rows = await this.database.query<{ position: string; filled: boolean }>(
        'checkpoint',
        `SELECT position, filled FROM ${schema}.checkpoint`,
      );
      if (rows[0]?.filled) this.markFilled();
      this.advance(BigInt(rows[0]?.position ?? -1));
    } catch {
      // Postgres is away: who waits runs into the limit, and the next poll asks again.
    }
    this.schedule(this.waiters.size > 0 ? POLL_WAITING_MS : POLL_IDLE_MS);
  }

  private schedule(milliseconds: number): void {
    if (this.stopped) return;
    if (this.timer) clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.poll(), milliseconds);
  }

  private async listen(): Promise<void> {
    if (this.stopped) return;
    const client = new pg.Client({
      connectionString: this.database.url,
      application_name: 'rollcall-watch',
      connectionTimeoutMillis: CONNECT_MS,
      keepAlive: true,
    });
    const again = (): void => {
      client.removeAllListeners('end');
      this.listener = null;
      // Postgres may come back with less than it had.
      this.reached = -1n;
      this.schedule(0);
      if (!this.stopped) setTimeout(() => void this.listen(), RECONNECT_MS).unref();
    };
    client.on('error', () => undefined);
    client.on('notification', ({ channel, payload }) => this.hear(channel, payload ?? ''));
    try {
      await client.connect();
      await client.query(`LISTEN ${CHECKPOINT_CHANNEL}; LISTEN ${PARKING_CHANNEL}`);
      // Stopped while it connected: nobody would end it later.
      if (this.stopped) return await client.end();
      this.listener = client;
      client.once('end', again);
    } catch {
      await client.end().catch(() => undefined);
      again();
    }
  }

  private hear(channel: string, payload: string): void {
    if (channel === PARKING_CHANNEL) {
      if (payload === this.setVersion) this.heardParking();
      return;
    }
    const [version, position] = payload.split(':');
    if (version === this.setVersion && position) this.advance(BigInt(position));
  }
}
