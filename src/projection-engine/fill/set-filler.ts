import type { AnyProjection } from '../../../projections/projection-set.js';
import type { ProjectedEvent } from '../../../projections/projection.js';
import type { EventLog } from '../../event-store/event-log.js';
import type { Position } from '../../event-store/position.js';
import type { RawEvent } from '../../event-store/recorded-event.js';
import type { StreamNames } from '../../event-store/stream-names.js';
import { FaultPoints } from '../../fault-points/fault-points.js';
import type { Database } from '../../database/database.js';
import { BatchApplier } from '../batch-applier.js';
import type { EventReader } from '../event-reader.js';
import { ENGINE_LIMITS } from '../limits.js';
import { isPoison, type ParkedStream } from '../parking.js';
import { PostgresSet } from '../postgres-set.js';
import { NOTHING_APPLIED } from '../set-schema.js';
import { SetWriter } from '../set-writer.js';
import { BulkWriter } from './bulk-writer.js';
import { followTo } from './follow-to.js';
import { endFormerFillers } from './former-fillers.js';
import { EventNotFolded, SetFold } from './set-fold.js';

export interface FillLimits {
  /** Small, so that the connection is read between two batches and the server need not wait. */
  readonly batchEvents: number;
  /** Of appended rows that are written at once. */
  readonly appendBytes: number;
  /** Events between two writes of the changed rows and the checkpoint: what a fold that was cut short does again. */
  readonly writeEvents: number;
  /** Estimated bytes of rows that one table keeps in memory from one write to the next. */
  readonly keptWeight: number;
}

export const FILL_LIMITS: FillLimits = {
  batchEvents: 256,
  appendBytes: 1024 * 1024,
  writeEvents: 200_000,
  keptWeight: 32 * 1024 * 1024,
};
/** Stretch of the log between two writes, for events as large as they may be. */
const WRITE_SPAN = 512n * 1024n * 1024n;

export interface FillProgress {
  /** Events folded by this process. */
  readonly events: number;
  readonly position: Position;
}

export interface FillerOptions {
  readonly database: Database;
  readonly log: EventLog;
  readonly reader: EventReader;
  readonly names: StreamNames;
  readonly projections: readonly AnyProjection[];
  readonly setVersion: string;
  /** Under which this process owns the set. */
  readonly epoch: bigint;
  /** From which position on the events of a stream are left out; what the fold parks is added. */
  readonly parked: Map<string, Position>;
  readonly onParked: (stream: ParkedStream) => void;
  /** An event of a type that means nothing (any more). */
  readonly onPassedOver: (type: string) => void;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: FillProgress) => void;
  readonly limits: FillLimits;
}

/**
 * Folds a log into a set that nobody reads yet, as fast as it can be read: rows are folded in memory, those of
 * insert-only tables go straight to COPY. What memory cannot hold is written and read again. Comes to the same rows
 * as the engine, and takes the engine's way over stretches that Postgres refuses.
 */
export class SetFiller {
  private fold: SetFold;
  private parkings: ParkedStream[] = [];
  private appending: Promise<void> = Promise.resolve();
  private failure: Error | null = null;
  private events = 0;
  private eventsAtWrite = 0;

  private constructor(
    private readonly options: FillerOptions,
    private readonly writer: BulkWriter,
    /** Everything up to here is in the tables, and the checkpoint says so. */
    private written: Position,
    /** Everything up to here is folded. */
    private folded: Position,
    private readonly losses: { lose: (error: Error) => void },
  ) {
    this.fold = new SetFold(options.projections, written === NOTHING_APPLIED);
    losses.lose = (error) => (this.failure ??= error);
  }

  /** Goes on from the set's checkpoint. */
  static async open(options: FillerOptions): Promise<SetFiller> {
    const losses = { lose: (error: Error): void => void error };
    const { database, setVersion, epoch } = options;
    const lost = (error: Error): void => losses.lose(error);
    await endFormerFillers(database, setVersion, epoch);
    const writer = await BulkWriter.connect({ url: database.url, setVersion, epoch, lost });
    try {
      const checkpoint = await writer.resume(options.projections);
      return new SetFiller(options, writer, checkpoint, checkpoint, losses);
    } catch (error) {
      await writer.close();
      throw error;
    }
  }

  /** Everything up to here is folded and written. */
  get position(): Position {
    return this.written;
  }

  /**
   * Afterwards the tables hold the fold of every event at or before `upTo`, a position that the log has reached.
   * Throws the signal's reason when it is aborted, `Fenced`, or what the log or Postgres say; what was written stays.
   */
  async fillTo(upTo: Position): Promise<void> {
    while (this.written < upTo) {
      try {
        await this.foldTo(upTo);
      } catch (error) {
        await this.appending.catch(() => undefined);
        if (!isPoison(error)) throw error;
        await this.applyCarefully(this.folded < upTo ? this.folded : upTo);
      }
    }
  }

  /** The tables are about to be read. */
  analyze(): Promise<void> {
    return this.writer.analyze(this.options.projections);
  }

  async close(): Promise<void> {
    await this.appending.catch(() => undefined);
    await this.writer.close();
  }

  private async foldTo(upTo: Position): Promise<void> {
    try {
      await followTo(this.source(), this.folded, upTo, async (batch, position) => {
        await this.foldBatch(batch);
        this.folded = position;
        this.options.onProgress({ events: this.events, position });
        if (this.fold.appendedBytes >= this.options.limits.appendBytes) await this.append();
        const isDue =
          this.events - this.eventsAtWrite >= this.options.limits.writeEvents ||
          position - this.written >= WRITE_SPAN;
        if (isDue) await this.write();
      });
    } catch (error) {
      // Cancelled: what was folded is kept.
      if (this.options.signal.aborted) await this.write();
      throw error;
    }
    await this.write();
  }

  private async foldBatch(batch: readonly RawEvent[]): Promise<void> {
    const events = batch.flatMap((raw) => this.read(raw) ?? []);
    await this.fold.prepare(
      events.map(({ event }) => event),
      this.writer,
    );
    for (const { raw, event } of events) {
      if (this.isLost(raw)) continue;
      try {
        this.fold.apply(event);
      } catch (error) {
        if (!(error instanceof EventNotFolded)) throw error;
        this.park(raw, error.message);
      }
    }
    this.events += batch.length;
  }

  private read(raw: RawEvent): { raw: RawEvent; event: ProjectedEvent } | null {
    if (this.isLost(raw)) return null;
    const reading = this.options.reader.read(raw);
    if (reading.kind === 'unreadable') this.park(raw, reading.reason);
    if (reading.kind === 'passed-over') this.options.onPassedOver(raw.type);
    return reading.kind === 'readable' ? { raw, event: reading.event } : null;
  }

  private isLost({ stream, position }: RawEvent): boolean {
    const from = this.options.parked.get(stream);
    return from !== undefined && position >= from;
  }

  private park(raw: RawEvent, reason: string): void {
    const { stream, revision, position, id, type } = raw;
    this.options.parked.set(stream, position);
    this.parkings.push({ stream, revision, position, eventId: id, eventType: type, reason });
  }

  /** Beside the fold of what comes next; one at a time. */
  private async append(): Promise<void> {
    await this.appending;
    const { fold } = this;
    const chunks = fold.takeAppended();
    this.appending = this.writer.append(chunks).then(() => fold.reuse(chunks));
    this.appending.catch(() => undefined);
  }

  private async write(): Promise<void> {
    await this.append();
    await this.appending;
    const { parkings } = this;
    await this.writer.write(this.fold.changes(), parkings, this.folded);
    this.parkings = [];
    this.fold.settle(this.options.limits.keptWeight);
    this.written = this.folded;
    this.eventsAtWrite = this.events;
    for (const parking of parkings) this.options.onParked(parking);
  }

  /** Postgres refused a value: from the last checkpoint to here the engine's own way finds the event that made it. */
  private async applyCarefully(upTo: Position): Promise<void> {
    const { database, setVersion, epoch, projections, reader, parked, onParked } = this.options;
    for (const { stream } of this.parkings.splice(0)) parked.delete(stream);
    this.appending = Promise.resolve();
    this.written = await this.writer.resume(projections);
    const faults = new FaultPoints();
    const set = new PostgresSet({ database, setVersion, projections, faults });
    const connection = await set.connect(epoch, this.losses.lose);
    const writer = new SetWriter(connection, projections, faults, ENGINE_LIMITS.keptRows);
    try {
      // What is passed over here was counted when it was folded.
      const applier = new BatchApplier(writer, reader, parked, onParked, () => undefined);
      await followTo(this.source(), this.written, upTo, async (batch, position) => {
        await applier.apply(batch, position);
        this.written = position;
        this.options.onProgress({ events: this.events, position });
      });
    } finally {
      await writer.close();
    }
    this.written = this.folded = upTo;
    this.fold = new SetFold(projections, false);
  }

  private source(): Parameters<typeof followTo>[0] {
    const { log, names, signal, limits } = this.options;
    return {
      log,
      prefixes: names.projected(),
      batchEvents: limits.batchEvents,
      signal,
      failure: () => this.failure,
    };
  }
}
