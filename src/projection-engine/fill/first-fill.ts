import type { Database } from '../../database/database.js';
import type { EventLog } from '../../event-store/event-log.js';
import type { EngineLog, EngineOptions } from '../engine.js';
import { parkedStreams } from '../parked-table.js';
import { NOTHING_APPLIED } from '../set-schema.js';
import { schemaOf } from '../set-version.js';
import { FILL_LIMITS, SetFiller } from './set-filler.js';

const TOLD_EVERY_MS = 5_000;

export interface FirstFillOptions extends Pick<EngineOptions, 'reader' | 'names' | 'projections'> {
  readonly log: EventLog;
  readonly database: Database;
  readonly setVersion: string;
  readonly logger: EngineLog;
}

/**
 * Fills the set of a build that is new from the log before the owner follows it: a set that has never been filled is
 * read by nobody. What another owner left behind is gone on with.
 */
export class FirstFill {
  constructor(private readonly options: FirstFillOptions) {}

  /** Returns at once when the set has been filled before. Throws like `SetFiller.fillTo`. */
  async run(epoch: bigint, signal: AbortSignal, onPassedOver: (type: string) => void): Promise<void> {
    const { database, setVersion, log, logger } = this.options;
    const [checkpoint] = await database.query<{ position: string; filled: boolean }>(
      'first-fill',
      `SELECT position, filled FROM ${schemaOf(setVersion)}.checkpoint`,
    );
    if (checkpoint?.filled !== false) return;
    const from = BigInt(checkpoint.position);
    const head = (await log.head()) ?? NOTHING_APPLIED;
    if (head <= from) return;
    const begun = performance.now();
    let told = begun;
    const parked = await parkedStreams(database, setVersion);
    const filler = await SetFiller.open({
      ...this.options,
      epoch,
      signal,
      parked: new Map([...parked].map(([stream, { position }]) => [stream, position])),
      onParked: ({ stream, revision, reason }) =>
        logger.warn({ stream, revision: revision.toString(), reason }, 'a stream is parked'),
      onPassedOver,
      onProgress: ({ events, position }) => {
        const now = performance.now();
        if (now - told < TOLD_EVERY_MS) return;
        told = now;
        const percent = Number((100n * (position - from)) / (head - from));
        const rate = Math.round((1000 * events) / (now - begun));
        logger.info({ events, percent, rate }, 'the read models are being filled from the log');
      },
      limits: FILL_LIMITS,
    });
    try {
      await filler.fillTo(head);
      await filler.analyze();
    } finally {
      await filler.close();
    }
  }
}
