import { createHash } from 'node:crypto';
import pg from 'pg';
import { v4 } from 'uuid';
import type { AnyProjection } from '../../../projections/projection-set.js';
import { Database } from '../../database/database.js';
import { underLock } from '../../database/migrate.js';
import type { EventLog } from '../../event-store/event-log.js';
import type { Position } from '../../event-store/position.js';
import type { StreamNames } from '../../event-store/stream-names.js';
import { ShadowSet } from '../fill/shadow-set.js';
import { HeldLease } from '../held-lease.js';
import { Ownership } from '../ownership.js';
import { parkedDetails } from '../parked-table.js';
import type { EventReader } from '../event-reader.js';
import type { ParkedStream } from '../parking.js';
import { NOTHING_APPLIED } from '../set-schema.js';
import { schemaOf } from '../set-version.js';
import { swapTables } from './swap.js';

/** The live set is left in its owner's hands until so little of the log is missing. */
const NEAR_MS = 1_000;
const MAX_APPROACHES = 20;

export interface RebuildOptions {
  readonly databaseUrl: string;
  readonly log: EventLog;
  readonly reader: EventReader;
  readonly names: StreamNames;
  readonly logId: string;
  readonly setVersion: string;
  /** Every projection of the set. */
  readonly set: readonly AnyProjection[];
  /** Those that are rebuilt. */
  readonly chosen: readonly AnyProjection[];
  /** Swap also when the fold parks a stream that the live set has not parked. */
  readonly evenIfParked: boolean;
  readonly signal: AbortSignal;
  readonly onBegin: (plan: RebuildPlan) => void;
  readonly onProgress: (progress: { readonly events: number; readonly position: Position }) => void;
}

export interface RebuildPlan {
  /** Where an earlier rebuild was cut short, or -1. */
  readonly from: Position;
  readonly to: Position;
  /** False when there is nothing to swap with: the set itself is filled. */
  readonly besideLive: boolean;
}

export type RebuildOutcome =
  | {
      readonly kind: 'filled' | 'swapped';
      readonly position: Position;
      readonly parked: readonly ParkedStream[];
    }
  /** The new tables are kept as they are, for another try. */
  | { readonly kind: 'refused'; readonly parked: readonly ParkedStream[] };

/** A part of the set cannot be rebuilt while the rest is missing or belongs to another log. */
export class NothingToRepair extends Error {
  constructor() {
    super('the read models are not there, not complete, or of another log; run "rollcall rebuild --all"');
    this.name = 'NothingToRepair';
  }
}

/**
 * Folds the chosen projections anew from the log. While the live set is whole it goes on being served and fed, and the
 * new tables take the place of the old ones at an equal position; otherwise the set itself is made and filled.
 */
export async function rebuild(options: RebuildOptions): Promise<RebuildOutcome> {
  const database = new Database(options.databaseUrl, 2);
  try {
    const isWhole = await isFilledFrom(database, options);
    const isAll = options.chosen.length === options.set.length;
    if (isWhole) return await besideLive(database, options, isAll);
    if (!isAll) throw new NothingToRepair();
    return await inPlace(options);
  } finally {
    await database.close();
  }
}

async function inPlace(options: RebuildOptions): Promise<RebuildOutcome> {
  const { databaseUrl, setVersion, log, onBegin } = options;
  const isForeign = !(await isOfThisLog(options));
  const set = await openSet(options, setVersion, new Map(), isForeign);
  // Folded from another log, they would speak for streams of this one.
  if (isForeign) await inLock(databaseUrl, 'TRUNCATE rollcall.stream_snapshots');
  try {
    const head = (await log.head()) ?? NOTHING_APPLIED;
    onBegin({ from: set.position, to: head, besideLive: false });
    await set.fillTo(head);
    await set.markFilled();
    return { kind: 'filled', position: set.position, parked: set.parked };
  } finally {
    await set.close();
  }
}

/** A retry has moved what was parked when the fold began. */
export class RetriedMeanwhile extends Error {
  constructor() {
    super('a parked stream was retried meanwhile; nothing was swapped, run it again');
    this.name = 'RetriedMeanwhile';
  }
}

/** The fold parked what the live set has not, and was not told to swap all the same. */
class NewlyParked extends Error {
  constructor(readonly parked: readonly ParkedStream[]) {
    super('the fold parks streams that are not parked now');
  }
}

async function besideLive(
  database: Database,
  options: RebuildOptions,
  isAll: boolean,
): Promise<RebuildOutcome> {
  const { setVersion, chosen, onBegin } = options;
  const live = await parkedDetails(database, setVersion);
  // A part of the set goes no further than the rest on streams that are parked; the whole tries them all again.
  const left = isAll ? [] : live;
  const shadowVersion = shadowVersionOf(setVersion, chosen, left);
  const shadow = await openSet(
    options,
    shadowVersion,
    new Map(left.map(({ stream, position }) => [stream, position])),
  );
  try {
    onBegin({ from: shadow.position, to: await checkpointOf(database, setVersion), besideLive: true });
    await approach(database, setVersion, shadow);
    await checkParked(database, options, shadow);
    const position = await takeOver(database, options, shadow, shadowVersion, isAll ? null : left);
    await shadow.drop();
    return { kind: 'swapped', position, parked: shadow.parked };
  } catch (error) {
    await (error instanceof RetriedMeanwhile ? shadow.drop() : shadow.close());
    if (error instanceof NewlyParked) return { kind: 'refused', parked: error.parked };
    throw error;
  }
}

/** Folds on until the live set is ahead by no more than what takes a moment. */
async function approach(database: Database, setVersion: string, shadow: ShadowSet): Promise<void> {
  for (let count = 0; count < MAX_APPROACHES; count += 1) {
    const begun = performance.now();
    await shadow.fillTo(await checkpointOf(database, setVersion));
    if (performance.now() - begun < NEAR_MS) return;
  }
}

/**
 * Takes the live set from its owner for as long as the last events and the swap take. The owner finds itself fenced and
 * stands by; it takes the set back, or another node does, as soon as it is let go of, at the latest when the lease ends.
 */
async function takeOver(
  database: Database,
  options: RebuildOptions,
  shadow: ShadowSet,
  shadowVersion: string,
  /** The streams that it goes no further on than the live set; null: it has tried them all. */
  left: readonly ParkedStream[] | null,
): Promise<Position> {
  const { databaseUrl, setVersion, chosen } = options;
  const ownership = new Ownership(database, setVersion, v4());
  const client = new pg.Client({ connectionString: databaseUrl, application_name: 'rollcall-rebuild' });
  client.on('error', () => undefined);
  await client.connect();
  const lease = new HeldLease(ownership, await ownership.seize());
  try {
    if (left) await checkStillParked(database, setVersion, left);
    const position = await checkpointOf(database, setVersion);
    await shadow.fillTo(position);
    await checkParked(database, options, shadow);
    await swapTables(client, {
      liveVersion: setVersion,
      epoch: lease.epoch,
      shadowVersion,
      projections: chosen,
      position,
      isWhole: left === null,
    });
    return position;
  } finally {
    await lease.release();
    await client.end();
  }
}

function openSet(
  options: RebuildOptions,
  version: string,
  parked: Map<string, Position>,
  afresh = false,
): Promise<ShadowSet> {
  const { databaseUrl: url, log, reader, names, chosen: projections, logId, signal, onProgress } = options;
  return ShadowSet.open({
    url,
    log,
    reader,
    names,
    projections,
    version,
    logId,
    parked,
    signal,
    onProgress,
    afresh,
  });
}

/** Throws `NewlyParked` for what the fold parked and the live set has not, or only later. */
async function checkParked(
  database: Database,
  { setVersion, evenIfParked }: RebuildOptions,
  shadow: ShadowSet,
): Promise<void> {
  if (evenIfParked) return;
  const live = new Map(
    (await parkedDetails(database, setVersion)).map(({ stream, position }) => [stream, position]),
  );
  const parked = shadow.parked.filter(({ stream, position }) => {
    const standing = live.get(stream);
    return standing === undefined || standing > position;
  });
  if (parked.length > 0) throw new NewlyParked(parked);
}

/** The live set holds now what the fold has left out, since it was parked then. */
async function checkStillParked(
  database: Database,
  setVersion: string,
  left: readonly ParkedStream[],
): Promise<void> {
  const now = new Map(
    (await parkedDetails(database, setVersion)).map(({ stream, position }) => [stream, position]),
  );
  if (left.some(({ stream, position }) => now.get(stream) !== position)) throw new RetriedMeanwhile();
}

/**
 * One for each choice of projections and of what is left out, so that a rebuild that was cut short is gone on with by the
 * same command.
 */
function shadowVersionOf(
  setVersion: string,
  chosen: readonly AnyProjection[],
  left: readonly ParkedStream[],
): string {
  const places = left.map(({ stream, position }) => `${position} ${stream}`);
  const names = [...chosen.map(({ name }) => name), ...places].join(' ');
  return `${setVersion}_rebuild_${createHash('sha256').update(names).digest('hex').slice(0, 6)}`;
}

async function isFilledFrom(database: Database, options: RebuildOptions): Promise<boolean> {
  if (!(await isOfThisLog(options))) return false;
  const rows = await database.query<{ filled: boolean }>(
    'rebuild-filled',
    `SELECT filled FROM ${schemaOf(options.setVersion)}.checkpoint`,
  );
  return rows[0]?.filled === true;
}

/** False also when there is no set, or one that stands beyond the log's head. */
async function isOfThisLog({ databaseUrl, setVersion, logId, log }: RebuildOptions): Promise<boolean> {
  const schema = schemaOf(setVersion);
  const [found] = await inLock<{ found: boolean }>(
    databaseUrl,
    `SELECT to_regclass('${schema}.checkpoint') IS NOT NULL AS found`,
  );
  if (found?.found !== true) return false;
  const [checkpoint] = await inLock<{ log_id: string; position: string }>(
    databaseUrl,
    `SELECT log_id, position FROM ${schema}.checkpoint`,
  );
  // Read after the checkpoint, which the set's owner moves meanwhile.
  const head = (await log.head()) ?? NOTHING_APPLIED;
  return checkpoint?.log_id === logId && BigInt(checkpoint.position) <= head;
}

async function inLock<Row extends object>(databaseUrl: string, text: string): Promise<Row[]> {
  let rows: Row[] = [];
  await underLock(databaseUrl, async (client) => {
    rows = (await client.query<Row>(text)).rows;
  });
  return rows;
}

async function checkpointOf(database: Database, setVersion: string): Promise<Position> {
  const rows = await database.query<{ position: string }>(
    `checkpoint-${setVersion}`,
    `SELECT position FROM ${schemaOf(setVersion)}.checkpoint`,
  );
  return BigInt(rows[0]?.position ?? NOTHING_APPLIED);
}
