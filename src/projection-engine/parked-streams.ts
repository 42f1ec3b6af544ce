import type { Database } from '../database/database.js';
import type { Position } from '../event-store/position.js';
import { parkedStreams, type ParkedStream } from './parking.js';

const POLL_MS = 1_000;

/** The streams that are parked in this build's set, as every node knows them: commands on them are refused. */
export class ParkedStreams {
  private known: ReadonlyMap<string, Position> = new Map();
  private timer: NodeJS.Timeout | null = null;

  constructor(
    private readonly database: Database,
    private readonly setVersion: string,
  ) {}

  get size(): number {
    return this.known.size;
  }

  has(stream: string): boolean {
    return this.known.has(stream);
  }

  /** The owner knows first. */
  add({ stream, position }: ParkedStream): void {
    this.known = new Map(this.known).set(stream, position);
  }

  async start(): Promise<void> {
    await this.poll();
    this.timer = setInterval(() => void this.poll(), POLL_MS);
  }

  stop(): void {
    if (this.timer) clearInterval(this.timer);
  }

  private async poll(): Promise<void> {
    // Postgres away: what was known stays.
    this.known = await parkedStreams(this.database, this.setVersion).catch(() => this.known);
  }
}
