import { createHash } from 'node:crypto';
import pg from 'pg';
import { v4 } from 'uuid';
import type { AnyProjection } from '../../../projections/projection-set.js';
import { Database } from '../../database/database.js';
import type { EventLog } from '../../event-store/event-log.js';
import type { Position } from '../../event-store/position.js';
import type { StreamNames } from '../../event-store/stream-names.js';
import { ShadowSet } from '../fill/shadow-set.js';
import { HeldLease } from '../held-lease.js';
import { Ownership } from '../ownership.js';
import { parkedDetails } from '../parked-table.js';
import type { EventReader } from '../event-reader.js';
import type { ParkedStream } from '../parking.js';
import { type LogPlace, NOTHING_APPLIED } from '../set-schema.js';
import { schemaOf } from '../set-version.js';
import { dropForeignSets, hasForeignSets } from '../standing-sets.js';
import { outwaitLongReaders, ReadersInTheWay } from './readers.js';
import { swapTables } from './swap.js';

/** The live set is left in its owner's hands until so little of the log is missing. */
const NEAR_MS = 1_000;
const MAX_APPROACHES = 20;
/** Each keeps the owner from its work for about two seconds at most. */
const MAX_TAKEOVERS = 5;

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
  /** Names the code that folds: what one build parked is not what another does (`thisBuild`). */
  readonly build: string;
  /** Swap also when the fold parks a stream that the live set has not parked. */
  readonly evenIfParked: boolean;
  readonly signal: AbortSignal;
  /** How long transactions that read the set are waited for: for tests. */
  readonly patienceMs?: number;
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
  const { databaseUrl, signal } = options;
  const database = new Database(databaseUrl, 2);
  const isAll = options.chosen.length === options.set.length;
  try {
    if (isAll) await dropForeignSets(databaseUrl, placeOf(options), signal);
    else if (await hasForeignSets(databaseUrl, placeOf(options))) throw new NothingToRepair();
    if (await isFilled(database, options)) return await besideLive(database, options, isAll);
    if (!isAll) throw new NothingToRepair();
    return await inPlace(options);
  } finally {
    await database.close();
  }
}

async function inPlace(options: RebuildOptions): Promise<RebuildOutcome> {
  const { setVersion, onBegin } = options;
  const set = await openSet(options, setVersion, new Map());
  try {
    const head = await placeOf(options).head();
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
  const { setVersion, onBegin } = options;
  const live = await parkedDetails(database, setVersion);
  // A part of the set goes no further than the rest on streams that are parked; the whole tries them all again.
  const left = isAll ? [] : live;
  const shadowVersion = shadowVersionOf(options, left);
  const shadow = await openSet(
    options,
    shadowVersion,
    new Map(left.map(({ stream, position }) => [stream, position])),
  );
  try {
    onBegin({ from: shadow.position, to: await checkpointOf(database, setVersion), besideLive: true });
    const position = await swapIn(database, options, shadow, shadowVersion, isAll ? null : left);
    await shadow.drop();
    return { kind: 'swapped', position, parked: shadow.parked };
  } catch (error) {
    await (error instanceof RetriedMeanwhile ? shadow.drop() : shadow.close());
    if (error instanceof NewlyParked) return { kind: 'refused', parked: error.parked };
    throw error;
  }
}

/** The log grows faster than it can be folded. */
export class NeverNear extends Error {
  constructor() {
    super('the read models are fed faster than the log can be folded beside them; nothing was swapped');
    this.name = 'NeverNear';
  }
}

/** Folds on until the live set is ahead by no more than what takes a moment. Throws `NeverNear`. */
async function approach(database: Database, setVersion: string, shadow: ShadowSet): Promise<void> {
  for (let count = 0; count < MAX_APPROACHES; count += 1) {
    const begun = performance.now();
    await shadow.fillTo(await checkpointOf(database, setVersion));
    if (performance.now() - begun < NEAR_MS) return;
  }
  throw new NeverNear();
}

/** Everything that may take long comes before the live set is taken from its owner, and again when it took too long. */
async function swapIn(
  database: Database,
  options: RebuildOptions,
  shadow: ShadowSet,
  shadowVersion: string,
  /** The streams that it goes no further on than the live set; null: it has tried them all. */
  left: readonly ParkedStream[] | null,
): Promise<Position> {
  const { databaseUrl, setVersion, chosen } = options;
  const client = new pg.Client({ connectionString: databaseUrl, application_name: 'rollcall-rebuild' });
  client.on('error', () => undefined);
  try {
    await client.connect();
    for (let tries = 1; ; tries += 1) {
      await approach(database, setVersion, shadow);
      await shadow.analyze();
      await outwaitLongReaders(client, setVersion, chosen, options);
      await approach(database, setVersion, shadow);
      await checkParked(database, options, shadow);
      try {
        return await takeOver(client, database, options, shadow, shadowVersion, left);
      } catch (error) {
        if (!(error instanceof ReadersInTheWay) || tries === MAX_TAKEOVERS) throw error;
      }
    }
  } finally {
    await client.end();
  }
}

/**
 * Takes the live set from its owner for as long as the last events and the swap take. The owner finds itself fenced and
 * stands by; it takes the set back, or another node does, as soon as it is let go of, at the latest when the lease ends.
 */
async function takeOver(
  client: pg.Client,
  database: Database,
  options: RebuildOptions,
  shadow: ShadowSet,
  shadowVersion: string,
  left: readonly ParkedStream[] | null,
): Promise<Position> {
  const { setVersion, chosen } = options;
  const ownership = new Ownership(database, setVersion, v4());
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
  }
}

function openSet(
  options: RebuildOptions,
  version: string,
  parked: Map<string, Position>,
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
 * One for each choice of projections, of what is left out and for each build, so that a rebuild that was cut short is
 * gone on with by the same command, and one that was refused is not when the code was mended.
 */
function shadowVersionOf(
  { setVersion, chosen, build }: RebuildOptions,
  left: readonly ParkedStream[],
): string {
  const places = left.map(({ stream, position }) => `${position} ${stream}`);
  const names = [build, ...chosen.map(({ name }) => name), ...places].join(' ');
  return `${setVersion}_rebuild_${createHash('sha256').update(names).digest('hex').slice(0, 6)}`;
}

function placeOf({ log, logId }: RebuildOptions): LogPlace {
  return { id: logId, head: async () => (await log.head()) ?? NOTHING_APPLIED };
}

/** False also when there is no set. */
async function isFilled(database: Database, { setVersion }: RebuildOptions): Promise<boolean> {
  const schema = schemaOf(setVersion);
  const [found] = await database.query<{ found: boolean }>(
    'rebuild-found',
    `SELECT to_regclass('${schema}.checkpoint') IS NOT NULL AS found`,
  );
  if (found?.found !== true) return false;
  const [row] = await database.query<{ filled: boolean }>(
    'rebuild-filled',
    `SELECT filled FROM ${schema}.checkpoint`,
  );
  return row?.filled === true;
}

async function checkpointOf(database: Database, setVersion: string): Promise<Position> {
  const rows = await database.query<{ position: string }>(
    `checkpoint-${setVersion}`,
    `SELECT position FROM ${schemaOf(setVersion)}.checkpoint`,
  );
  return BigInt(rows[0]?.position ?? NOTHING_APPLIED);
}
