import { v4 } from 'uuid';
import type { AnyProjection } from '../../../projections/projection-set.js';
import { Database } from '../../database/database.js';
import { underLock } from '../../database/migrate.js';
import type { EventLog } from '../../event-store/event-log.js';
import type { EventRegistry } from '../../event-store/event-registry.js';
import type { Position } from '../../event-store/position.js';
import type { RawEvent } from '../../event-store/recorded-event.js';
import type { StreamNames } from '../../event-store/stream-names.js';
import { FaultPoints } from '../../fault-points/fault-points.js';
import { BatchApplier } from '../batch-applier.js';
import { Ownership, RENEW_MS } from '../ownership.js';
import type { ParkedStream } from '../parking.js';
import { NOTHING_APPLIED, prepareSet } from '../set-schema.js';
import { schemaOf } from '../set-version.js';
import { SetWriter } from '../set-writer.js';
import { projectedEvents } from './projected-events.js';

const BATCH_EVENTS = 1_000;

export interface ShadowSetOptions {
  readonly url: string;
  readonly log: EventLog;
  readonly registry: EventRegistry;
  readonly names: StreamNames;
  readonly projections: readonly AnyProjection[];
  readonly version: string;
  readonly logId: string;
  readonly parked: Map<string, Position>;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: { readonly events: number; readonly position: Position }) => void;
}

export class ShadowSetInUse extends Error {
  constructor() {
    super('another process is at the same work');
    this.name = 'ShadowSetInUse';
  }
}

export class ShadowSet {
  readonly schema: string;
  readonly parked: ParkedStream[] = [];
  private written = NOTHING_APPLIED;
  private events = 0;
  private readonly applier: BatchApplier;
  private readonly renewals: NodeJS.Timeout;

  private constructor(
    private readonly options: ShadowSetOptions,
    ownership: Ownership,
    epoch: bigint,
    private readonly database: Database,
    private readonly writer: SetWriter,
  ) {
    this.schema = schemaOf(options.version);
    this.applier = new BatchApplier(writer, options.registry, options.names, options.parked, (stream) =>
      this.parked.push(stream),
    );
    this.renewals = setInterval(() => void ownership.renew(epoch).catch(() => undefined), RENEW_MS);
  }

  static async open(options: ShadowSetOptions): Promise<ShadowSet> {
    const { url, version, projections, logId, log } = options;
    const database = new Database(url, 1);
    try {
      const ownership = new Ownership(database, version, v4());
      const epoch = await ownership.acquire();
      if (epoch === null) throw new ShadowSetInUse();
      await prepareSet(url, version, projections, { id: logId, head: (await log.head()) ?? -1n });
      const faults = new FaultPoints();
      const lost = (): void => undefined;
      const writer = await SetWriter.connect({ url, setVersion: version, epoch, projections, faults, lost });
      return new ShadowSet(options, ownership, epoch, database, writer);
    } catch (error) {
      await database.close();
      throw error;
    }
  }

  get position(): Position {
    return this.written;
  }

  leaveOut(stream: string, from: Position): void {
    this.options.parked.set(stream, from);
  }

  async fillTo(upTo: Position): Promise<void> {
    const { log, names, signal } = this.options;
    let batch: RawEvent[] = [];
    const apply = async (position: Position): Promise<void> => {
      await this.applier.apply(batch, position);
      this.events += batch.length;
      this.written = position;
      batch = [];
      this.options.onProgress({ events: this.events, position });
    };
    for await (const raw of projectedEvents(log, names, this.written, upTo)) {
      signal.throwIfAborted();
      batch.push(raw);
      if (batch.length === BATCH_EVENTS) await apply(raw.position);
    }
    if (upTo > this.written) await apply(upTo);
  }

  async drop(): Promise<void> {
    clearInterval(this.renewals);
    await this.writer.close();
    await this.database.close();
    await dropSet(this.options.url, this.options.version);
  }
}

export async function dropSet(url: string, version: string): Promise<void> {
  await underLock(url, async (client) => {
    await client.query(`DROP SCHEMA IF EXISTS ${schemaOf(version)} CASCADE`);
    await client.query('DELETE FROM rollcall.parked_streams WHERE set_version = $1', [version]);
    await client.query('DELETE FROM rollcall.projection_sets WHERE version = $1', [version]);
  });
}
