import type { Database } from '../database/database.js';
import { type KnownParked, parkedStreams } from './parked-table.js';
import type { ParkedStream } from './parking.js';
import type { ParkingSink } from './ports.js';

const POLL_MS = 1_000;

/** The streams that are parked in this build's set, as every node knows them: commands on them are refused. */
export class ParkedStreams implements ParkingSink {
  /** Changed in place: thousands may be parked at once. */
  private known = new Map<string, KnownParked>();
  private requested = false;
  /** Counts looks and what the owner says: an answer from before either is no news. */
  private turn = 0;
  private heardRequest: () => void = () => undefined;
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

  get retryRequested(): boolean {
    return this.requested;
  }

  /** The owner knows first. */
  parked({ stream, position }: ParkedStream): void {
    this.turn += 1;
    this.known.set(stream, { position, retryRequested: false });
  }

  freed(stream: string): void {
    this.turn += 1;
    this.known.delete(stream);
  }

  noneRequested(): void {
    this.turn += 1;
    this.requested = false;
  }

  onRequest(listener: () => void): void {
    this.heardRequest = listener;
  }

  async start(): Promise<void> {
    await this.look();
    this.timer = setInterval(() => void this.look(), POLL_MS);
  }

  stop(): void {
    if (this.timer) clearInterval(this.timer);
  }

  /** Asks the database. Postgres away: what was known stays. */
  async look(): Promise<void> {
    const turn = (this.turn += 1);
    const found = await parkedStreams(this.database, this.setVersion).catch(() => null);
    if (!found || turn !== this.turn) return;
    this.known = found;
    this.requested = [...found.values()].some(({ retryRequested }) => retryRequested);
    if (this.requested) this.heardRequest();
  }
}
