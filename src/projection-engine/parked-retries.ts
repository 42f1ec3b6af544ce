import { StreamTombstoned } from '../event-store/errors.js';
import type { Position } from '../event-store/position.js';
import type { RawEvent } from '../event-store/recorded-event.js';
import { weightOfJson } from '../text/json-weight.js';
import { BatchApplier } from './batch-applier.js';
import type { EngineLog } from './engine.js';
import type { EventReader } from './event-reader.js';
import { parkedEventOf, type ParkedStream, type RetryStep } from './parking.js';
import type { LogFollower, ParkingSink } from './ports.js';
import type { Scheduler } from './scheduler.js';
import type { SetWriter } from './set-writer.js';

/** Few enough that live events do not wait long. */
const BATCH_EVENTS = 256;
/** Estimated bytes, for events as large as they may be. */
const BATCH_WEIGHT = 16 * 1024 * 1024;
const PAUSE_MS = 1_000;

export interface RetryParts {
  readonly writer: SetWriter;
  readonly log: LogFollower;
  readonly reader: EventReader;
  readonly parking: ParkingSink;
  readonly scheduler: Scheduler;
  readonly logger: EngineLog;
  /** Of the owner's live batches: from which position on each stream is parked. */
  readonly parked: Map<string, Position>;
  /** Hears of each event of a type that means nothing (any more). */
  readonly passedOver: (type: string) => void;
}

interface Stretch {
  readonly events: readonly RawEvent[];
  /** The next event at or before the checkpoint; null when there is none. */
  readonly next: RawEvent | null;
}

/**
 * Applies what parked streams hold at or before the checkpoint, a bounded batch at a time, between two live batches.
 * Each batch moves the place where the stream is parked in its own transaction, so a retry goes on where the last one
 * was cut off, on whichever node. What lies beyond the checkpoint comes by the feed: nothing is skipped.
 */
export class ParkedRetries {
  private notBefore = 0;

  constructor(private readonly parts: RetryParts) {}

  get isDue(): boolean {
    return this.parts.parking.retryRequested && this.parts.scheduler.now() >= this.notBefore;
  }

  /** At most one batch. Throws what is worth another try. */
  async step(checkpoint: Position): Promise<void> {
    if (!this.isDue) return;
    const { writer, parking } = this.parts;
    const request = await writer.retryRequested();
    if (!request) return parking.noneRequested();
    const stretch = await this.stretchOf(request.stream, request.revision, checkpoint);
    if (stretch) await this.apply(request.stream, stretch);
  }

  /** Null when the stream cannot be read now; that must not hold up what else the owner does. */
  private async stretchOf(stream: string, from: bigint, checkpoint: Position): Promise<Stretch | null> {
    const { writer, scheduler, logger } = this.parts;
    try {
      return await this.read(stream, from, checkpoint);
    } catch (error) {
      if (error instanceof StreamTombstoned) return { events: [], next: null };
      logger.warn({ err: error, stream }, 'a parked stream cannot be read yet');
      this.notBefore = scheduler.now() + PAUSE_MS;
      await writer.postponeRetry(stream);
      return null;
    }
  }

  private async read(stream: string, from: bigint, checkpoint: Position): Promise<Stretch> {
    const events: RawEvent[] = [];
    let weight = 0;
    for await (const raw of this.parts.log.read(stream, { from, limit: BATCH_EVENTS + 1 })) {
      if (raw.position > checkpoint) break;
      if (events.length === BATCH_EVENTS || weight > BATCH_WEIGHT) return { events, next: raw };
      events.push(raw);
      weight += weightOf(raw);
    }
    return { events, next: null };
  }

  private async apply(stream: string, { events, next }: Stretch): Promise<void> {
    const { writer, reader, passedOver } = this.parts;
    let isOver = false;
    const target: Pick<SetWriter, 'write'> = {
      write: async (written, parkings, upTo) => {
        // A bisected batch goes on behind the event that parked the stream, with nothing left to write.
        if (isOver) return;
        const later = events.find(({ position }) => position > upTo) ?? next;
        const step = stepOf(stream, parkings, later);
        await writer.writeLate(written, step);
        this.took(step);
        isOver = step.kind === 'parked';
      },
    };
    const applier = new BatchApplier(target, reader, new Map(), () => undefined, passedOver);
    await applier.apply(events, events.at(-1)?.position ?? -1n);
  }

  private took(step: RetryStep): void {
    const { parked, parking, logger } = this.parts;
    switch (step.kind) {
      case 'moved':
        parked.set(step.to.stream, step.to.position);
        return;
      case 'parked': {
        const { stream, position, revision, eventType, reason } = step.at;
        parked.set(stream, position);
        parking.parked(step.at);
        logger.warn(
          { stream, revision: revision.toString(), eventType, reason },
          'a retried stream stays parked',
        );
        return;
      }
      case 'free':
        parked.delete(step.stream);
        parking.freed(step.stream);
        logger.info({ stream: step.stream }, 'a parked stream is free again');
    }
  }
}

function stepOf(stream: string, parkings: readonly ParkedStream[], later: RawEvent | null): RetryStep {
  const [at] = parkings;
  if (at) return { kind: 'parked', at };
  return later ? { kind: 'moved', to: parkedEventOf(later) } : { kind: 'free', stream };
}

function weightOf({ data }: RawEvent): number {
  return data instanceof Uint8Array ? data.byteLength : weightOfJson(data);
}
