import type { ProjectedEvent } from '../../projections/projection.js';
import type { Position } from '../event-store/position.js';
import type { RawEvent } from '../event-store/recorded-event.js';
import { ProjectorFailure } from './batch-fold.js';
import type { EventReader } from './event-reader.js';
import { isPoison, parkedEventOf, type ParkedStream } from './parking.js';
import type { SetWriter } from './set-writer.js';

interface Readable {
  readonly raw: RawEvent;
  readonly event: ProjectedEvent;
}

/**
 * Applies a batch so that no event is skipped and no stream stops the others: an event that cannot be applied parks
 * its stream from there on; everything before it, and every other stream, moves on.
 */
export class BatchApplier {
  constructor(
    private readonly writer: Pick<SetWriter, 'write'>,
    private readonly reader: EventReader,
    /** From which position on a stream is parked; its earlier events are still to be applied. */
    private readonly parked: Map<string, Position>,
    private readonly onParked: (stream: ParkedStream) => void,
    private readonly onPassedOver: (type: string) => void,
  ) {}

  /** Everything up to `upTo` is in the read models afterwards, or parked. Throws what is worth another try. */
  async apply(batch: readonly RawEvent[], upTo: Position): Promise<void> {
    const parkings: ParkedStream[] = [];
    const readable = batch.flatMap((raw) => this.read(raw, parkings) ?? []);
    await this.write(readable, parkings, upTo);
  }

  private read(raw: RawEvent, parkings: ParkedStream[]): Readable | null {
    if (this.isLost(raw)) return null;
    const reading = this.reader.read(raw);
    switch (reading.kind) {
      case 'readable':
        return { raw, event: reading.event };
      case 'passed-over':
        this.onPassedOver(raw.type);
        return null;
      case 'unreadable':
        this.park(raw, reading.reason, parkings);
        return null;
    }
  }

  private async write(batch: readonly Readable[], parkings: ParkedStream[], upTo: Position): Promise<void> {
    try {
      await this.writer.write(
        batch.map(({ event }) => event),
        parkings,
        upTo,
      );
    } catch (error) {
      if (error instanceof ProjectorFailure) {
        const failed = batch.find(({ event }) => event === error.event);
        if (failed) return this.writeWithout(batch, failed, describe(error.cause), parkings, upTo);
      }
      if (!isPoison(error) || batch.length === 0) throw error;
      await this.bisect(batch, describe(error), parkings, upTo);
    }
  }

  private async bisect(
    batch: readonly Readable[],
    reason: string,
    parkings: ParkedStream[],
    upTo: Position,
  ): Promise<void> {
    const [first] = batch;
    if (batch.length === 1 && first) return this.writeWithout(batch, first, reason, parkings, upTo);
    const middle = Math.ceil(batch.length / 2);
    const [head, tail] = [batch.slice(0, middle), batch.slice(middle)];
    const boundary = head.at(-1)?.event.position ?? upTo;
    const isBefore = ({ position }: ParkedStream): boolean => position <= boundary;
    await this.write(head, parkings.filter(isBefore), boundary);
    const rest = tail.filter(({ raw }) => !this.isLost(raw));
    await this.write(
      rest,
      parkings.filter((parking) => !isBefore(parking)),
      upTo,
    );
  }

  private writeWithout(
    batch: readonly Readable[],
    failed: Readable,
    reason: string,
    parkings: ParkedStream[],
    upTo: Position,
  ): Promise<void> {
    const all = [...parkings];
    this.park(failed.raw, reason, all);
    const rest = batch.filter(({ raw }) => !this.isLost(raw));
    return this.write(rest, all, upTo);
  }

  private isLost({ stream, position }: RawEvent): boolean {
    const from = this.parked.get(stream);
    return from !== undefined && position >= from;
  }

  private park(raw: RawEvent, reason: string, parkings: ParkedStream[]): void {
    const parking = { ...parkedEventOf(raw), reason };
    const { stream, position } = parking;
    // A batch may fail at an event before the one that parked its stream first: what is said of the stream is the first.
    const later = parkings.findIndex((standing) => standing.stream === stream);
    if (later >= 0) parkings.splice(later, 1);
    this.parked.set(stream, position);
    parkings.push(parking);
    this.onParked(parking);
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
