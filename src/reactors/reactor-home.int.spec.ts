import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { rmSync } from 'node:fs';
import { projectionSet } from '../../projections/projection-set.js';
import type { OwedRow } from '../../projections/obligations/projection.js';
import { startPostgres, type PostgresProcess } from '../../test/support/process/postgres-process.js';
import { tempDirectory } from '../../test/support/run/run-directory.js';
import { until } from '../../test/support/until.js';
import { Database } from '../database/database.js';
import { migrate } from '../database/migrate.js';
import { prepareSet } from '../projection-engine/set-schema.js';
import { schemaOf } from '../projection-engine/set-version.js';
import type { Occasion } from './reaction.js';
import { ReactorHome } from './reactor-home.js';
import { ToDoList } from './to-do-list.js';

const VERSION = 'home';
const directory = tempDirectory('reactors');
let postgres: PostgresProcess;
let database: Database;

beforeAll(async () => {
  postgres = await startPostgres(directory);
  await migrate(postgres.url);
  database = new Database(postgres.url);
  await prepareSet(postgres.url, VERSION, projectionSet, {
    id: 'log',
    head: () => Promise.resolve(0n),
  });
  await database.pool.query('INSERT INTO rollcall.projection_sets VALUES ($1, $2, 1, clock_timestamp())', [
    VERSION,
    'node',
  ]);
});

afterAll(async () => {
  await database.close();
  await postgres.stop();
  rmSync(directory, { recursive: true, force: true });
});

const rows = `${schemaOf(VERSION)}.obligations`;

async function owe(...children: string[]): Promise<void> {
  for (const [index, child] of children.entries()) {
    await database.pool.query(
      `INSERT INTO ${rows} (kind, child_id, parent_id, cause_id, correlation_id, payload, met, owed_at, owed_position, position)
       VALUES ('birth', $1, 'P', 'cause', 'request', '{}', false, clock_timestamp() - interval '90 seconds', $2, $2)`,
      [child, index + 1],
    );
  }
}

const isLeftAlone = (): boolean =>
  database.pool.waitingCount === 0 && database.pool.idleCount === database.pool.totalCount;

const nextTurn = (check: () => boolean): Promise<boolean> =>
  new Promise((resolve) => setImmediate(() => resolve(check())));

/** A home on the real list, whose reactions are told to the test and whose time the test moves. */
class Scene {
  readonly tried: string[] = [];
  readonly occasions: Occasion[] = [];
  canMeet: (owed: OwedRow) => boolean | Promise<boolean> = () => true;
  checkpoint = 100n;
  isLive = true;
  private now = 0;
  private look: (() => void) | null = null;

  readonly home = new ReactorHome({
    list: new ToDoList(database, VERSION),
    reactions: {
      birth: async (owed, occasion) => {
        this.tried.push(owed.child_id);
        this.occasions.push(occasion);
        const isMet = await this.canMeet(owed);
        if (isMet)
          await database.pool.query(`UPDATE ${rows} SET met = true WHERE child_id = $1`, [owed.child_id]);
        return isMet;
      },
      rename: () => Promise.reject(new Error('none')),
      release: () => Promise.reject(new Error('none')),
      interrupt: () => Promise.reject(new Error('none')),
      delete: () => Promise.reject(new Error('none')),
    },
    checkpoint: () => this.checkpoint,
    isLive: () => this.isLive,
    scheduler: {
      now: () => this.now,
      random: () => 0.5,
      after: () => () => undefined,
      every: (_milliseconds, work) => {
        this.look = work;
        return () => (this.look = null);
      },
    },
    logger: { info: () => undefined, warn: () => undefined },
  });

  /** Half a second passes; what is begun by it is over afterwards, unless a reaction waits. */
  async tick(): Promise<void> {
    this.now += 500;
    this.look?.();
    await until('the database to be left alone', async () => isLeftAlone() && (await nextTurn(isLeftAlone)));
  }
}

let scene: Scene;

beforeEach(async () => {
  await database.pool.query(`TRUNCATE ${rows}`);
  scene = new Scene();
});

describe('the home of the reactors', () => {
  it('lets the command act first, and then meets what is still owed, in the order of the log', async () => {
    await owe('A', 'B');
    scene.home.start(1n);
    await scene.tick();
    expect(scene.tried).toEqual([]);
    await scene.tick();
    expect(scene.tried).toEqual(['A', 'B']);
    expect(scene.occasions[0]?.context).toMatchObject({
      actor: 'system:birth-reactor',
      causationId: 'cause',
      correlationId: 'request',
      seed: 'cause:birth',
    });
    await scene.tick();
    expect(scene.tried).toHaveLength(2);
    expect(await scene.home.report()).toEqual({ owed: 0, oldestSeconds: null, met: 2, failing: 0 });
  });

  it('leaves alone what has only just come to be owed', async () => {
    scene.checkpoint = 1n;
    await owe('A', 'B');
    scene.home.start(1n);
    await scene.tick();
    scene.checkpoint = 2n;
    await scene.tick();
    expect(scene.tried).toEqual(['A']);
    await scene.tick();
    expect(scene.tried).toEqual(['A', 'B']);
  });

  it('finds nothing to do under an epoch that is not the one of the set', async () => {
    await owe('A');
    scene.home.start(2n);
    for (let ticks = 0; ticks < 4; ticks += 1) await scene.tick();
    expect(scene.tried).toEqual([]);
  });

  it('does nothing while the set is filled or catches up', async () => {
    await owe('A');
    scene.isLive = false;
    scene.home.start(1n);
    for (let ticks = 0; ticks < 4; ticks += 1) await scene.tick();
    expect(scene.tried).toEqual([]);
    scene.isLive = true;
    for (let ticks = 0; ticks < 2; ticks += 1) await scene.tick();
    expect(scene.tried).toEqual(['A']);
  });

  it('tries what cannot be met after ever longer pauses, and keeps nothing waiting for it', async () => {
    scene.canMeet = ({ child_id }) => child_id !== 'A';
    await owe('A', 'B');
    scene.home.start(1n);
    for (let ticks = 0; ticks < 9; ticks += 1) await scene.tick();
    // At 1.0 s, then after 0.5, 1 and 2 s.
    expect(scene.tried.filter((id) => id === 'A')).toHaveLength(4);
    expect(scene.tried.filter((id) => id === 'B')).toHaveLength(1);
    const report = await scene.home.report();
    expect(report).toMatchObject({ owed: 1, met: 1, failing: 1 });
    expect(report.oldestSeconds).toBeGreaterThan(89);
  });

  it('works on a few at a time, and begins none twice', async () => {
    let release: (isMet: boolean) => void = () => undefined;
    const held = new Promise<boolean>((resolve) => (release = resolve));
    scene.canMeet = () => held;
    await owe(...Array.from({ length: 20 }, (_, n) => `C${n}`));
    scene.home.start(1n);
    for (let ticks = 0; ticks < 4; ticks += 1) await scene.tick();
    expect(scene.tried).toHaveLength(8);
    release(true);
    await until('all to be met', () => scene.tried.length === 20);
    expect(new Set(scene.tried).size).toBe(20);
    await scene.home.stop();
  });

  it('tells what is under way when this node loses the set, and begins nothing more', async () => {
    let release: (isMet: boolean) => void = () => undefined;
    scene.canMeet = () => new Promise((resolve) => (release = resolve));
    await owe('A');
    scene.home.start(1n);
    for (let ticks = 0; ticks < 2; ticks += 1) await scene.tick();
    expect(scene.occasions[0]?.goesOn()).toBe(true);
    const stopped = scene.home.stop();
    expect(scene.occasions[0]?.goesOn()).toBe(false);
    release(false);
    await stopped;
    await scene.tick();
    expect(scene.tried).toEqual(['A']);
  });
});
