import { randomBytes, randomUUID } from 'node:crypto';
import { type EventStoreDBClient, jsonEvent, type JSONType, NO_STREAM } from '@eventstore/db-client';
import type { Client } from 'pg';
import { projectionSet } from '../../projections/projection-set.js';
import { createEventRegistry } from '../../src/event-store/catalogue.js';
import type { EventLog } from '../../src/event-store/event-log.js';
import type { RawEvent } from '../../src/event-store/recorded-event.js';
import { StreamNames } from '../../src/event-store/stream-names.js';
import { EventReader } from '../../src/projection-engine/event-reader.js';
import type { FillLimits } from '../../src/projection-engine/fill/set-filler.js';
import { ShadowSet } from '../../src/projection-engine/fill/shadow-set.js';
import type { ParkedStream } from '../../src/projection-engine/parking.js';
import { stack } from '../support/stack.js';
import { type WrittenSet, tablesOf } from './written-set.js';

const PREFIX_OF_HISTORIES = 'rollcall.';

/** A history as a real log holds it, under a prefix of its own. */
export class LoggedHistory {
  private constructor(
    private readonly log: EventLog,
    readonly names: StreamNames,
    /** In the order of the log. */
    readonly events: readonly RawEvent[],
  ) {}

  static async write(
    client: EventStoreDBClient,
    log: EventLog,
    appends: readonly (readonly RawEvent[])[],
  ): Promise<LoggedHistory> {
    const prefix = `filling-${randomBytes(6).toString('hex')}.`;
    const revisions = new Map<string, bigint>();
    for (const append of appends) {
      const stream = `${prefix}${append[0]?.stream.slice(PREFIX_OF_HISTORIES.length) ?? ''}`;
      const last = revisions.get(stream);
      const events = append.map(({ type, data, metadata }) =>
        jsonEvent({ id: randomUUID(), type, data: data as JSONType, metadata }),
      );
      const result = await client.appendToStream(stream, events, { expectedRevision: last ?? NO_STREAM });
      revisions.set(stream, result.nextExpectedRevision);
    }
    const names = new StreamNames(prefix);
    return new LoggedHistory(log, names, await readAll(log, names));
  }

  /** What a filler makes of it: one that is cancelled after each of the given numbers of events and then goes on. */
  async filled(client: Client, limits: FillLimits, cuts: readonly number[]): Promise<WrittenSet> {
    const version = randomBytes(5).toString('hex');
    const head = this.events.at(-1)?.position ?? 0n;
    for (const cut of cuts) await this.fill(version, limits, head, cut);
    const set = await this.open(version, limits, new AbortController());
    try {
      await set.fillTo(head);
      return { tables: await tablesOf(client, version), parked: positionsOf(set.parked) };
    } finally {
      await set.drop();
    }
  }

  private async fill(version: string, limits: FillLimits, upTo: bigint, cut: number): Promise<void> {
    const cancelled = new AbortController();
    const set = await this.open(version, limits, cancelled, cut);
    try {
      await set.fillTo(upTo);
    } catch (error) {
      if (!cancelled.signal.aborted) throw error;
    } finally {
      await set.close();
    }
  }

  private open(
    version: string,
    limits: FillLimits,
    cancelled: AbortController,
    cut = Number.POSITIVE_INFINITY,
  ): Promise<ShadowSet> {
    return ShadowSet.open({
      url: stack().databaseUrl,
      log: this.log,
      reader: new EventReader(createEventRegistry(), this.names),
      names: this.names,
      projections: projectionSet,
      version,
      logId: 'log',
      parked: new Map(),
      signal: cancelled.signal,
      onProgress: ({ events }) => {
        if (events >= cut) cancelled.abort();
      },
      limits,
    });
  }
}

function positionsOf(parked: readonly ParkedStream[]): Map<string, bigint> {
  return new Map(parked.map(({ stream, position }) => [stream, position]));
}

async function readAll(log: EventLog, names: StreamNames): Promise<RawEvent[]> {
  const events: RawEvent[] = [];
  let caughtUp: () => void = () => undefined;
  const head = new Promise<void>((resolve) => (caughtUp = resolve));
  const feed = log.follow(null, names.projected(), {
    event: (raw) => events.push(raw),
    passed: () => undefined,
    caughtUp,
  });
  await Promise.race([head, feed.ended]);
  await feed.stop();
  return events;
}
