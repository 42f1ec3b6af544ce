import { LRUCache } from 'lru-cache';
import { obligationsProjection, type OwedRow } from '../../projections/obligations/projection.js';
import type { Database } from '../database/database.js';
import type { CommandContext } from '../event-store/aggregates/command-context.js';
import { fromDatabase } from '../projection-engine/row-codec.js';
import { decideRelease } from '../sessions/domain/decide/close.js';
import { decidePatch } from '../sessions/domain/decide/rename.js';
import { decideBirth } from '../sessions/domain/decide/spawn.js';
import type { SessionSpawn } from '../sessions/domain/events.js';
import type { SessionCommands } from '../sessions/session-commands.js';
import type { CheckpointWatch } from '../projection-engine/checkpoint-watch.js';
import type { EngineLog } from '../projection-engine/engine.js';

/** The command that caused an obligation meets it first; what is still owed a moment later is met here. */
const PATIENCE_MS = 500;
const MAX_PAUSE_MS = 60_000;
const BATCH = 200;
const REMEMBERED_ATTEMPTS = 10_000;

/**
 * Meets what a parent and a child owe each other across two streams: the birth after `ChildSpawned`, the new title
 * after `ChildRenamed`, the free name after the child is closed. Runs on the owner of the set alone; everything it
 * appends is decided on the stream itself and has ids that follow from the cause, so doing it twice changes nothing.
 */
export class ChildReactor {
  private timer: NodeJS.Timeout | null = null;
  private working: Promise<void> = Promise.resolve();
  /** What was already owed at the last look, so that only what stays owed is acted upon. */
  private seen = -1n;
  private readonly tried = new LRUCache<string, { readonly pause: number; readonly again: number }>({
    max: REMEMBERED_ATTEMPTS,
  });

  constructor(
    private readonly database: Database,
    private readonly schema: string,
    private readonly sessions: SessionCommands,
    private readonly watch: CheckpointWatch,
    private readonly log: EngineLog,
  ) {}

  start(): void {
    if (this.timer) return;
    this.seen = -1n;
    this.timer = setInterval(() => this.tick(), PATIENCE_MS);
  }

  async stop(): Promise<void> {
    if (this.timer) clearInterval(this.timer);
    this.timer = null;
    await this.working;
  }

  private busy = false;

  private tick(): void {
    if (this.busy) return;
    this.busy = true;
    const before = this.seen;
    this.seen = this.watch.position;
    this.working = this.meetAll(before)
      .catch((error: unknown) => this.log.warn({ err: error }, 'an obligation could not be met yet'))
      .finally(() => {
        this.busy = false;
      });
  }

  /** All that was owed at the last look, page by page, so that what cannot be met keeps nothing else waiting. */
  private async meetAll(upTo: bigint): Promise<void> {
    for (let from = -1n; ;) {
      const rows = await this.due(from, upTo);
      for (const owed of rows) {
        if (!this.timer) return;
        await this.attempt(owed);
        from = owed.position;
      }
      if (rows.length < BATCH) return;
    }
  }

  private async due(from: bigint, upTo: bigint): Promise<OwedRow[]> {
    if (upTo < 0n) return [];
    const rows = await this.database.query<Record<string, unknown>>(
      'obligations-due',
      `SELECT * FROM ${this.schema}.obligations
       WHERE NOT met AND position > $1 AND position <= $2 ORDER BY position LIMIT ${BATCH}`,
      [from.toString(), upTo.toString()],
    );
    return rows.map((row) => fromDatabase(obligationsProjection.table.columns, row) as OwedRow);
  }

  /** What was tried in vain is tried again after ever longer pauses. */
  private async attempt(owed: OwedRow): Promise<void> {
    const name = `${owed.kind} ${owed.child_id}`;
    const tried = this.tried.get(name);
    const now = performance.now();
    if (tried && now < tried.again) return;
    const pause = Math.min(tried ? tried.pause * 2 : PATIENCE_MS, MAX_PAUSE_MS);
    this.tried.set(name, { pause, again: now + pause });
    try {
      await this.meet(owed);
    } catch (error) {
      this.log.warn({ err: error, obligation: name }, 'an obligation could not be met yet');
    }
  }

  private async meet(owed: OwedRow): Promise<void> {
    const context = contextOf(owed);
    switch (owed.kind) {
      case 'birth': {
        // What the projection stored under `birth` is the spawn of a checked `ChildSpawned`.
        const spawn = owed.payload as unknown as SessionSpawn;
        await this.sessions.follow(context, owed.child_id, (state) => decideBirth(state, spawn));
        return;
      }
      case 'rename': {
        const { title, sequence } = owed.payload as unknown as { title: string | null; sequence: number };
        await this.sessions.follow(context, owed.child_id, (state) =>
          decidePatch(state, { title, sequence }),
        );
        return;
      }
      case 'release':
        await this.sessions.follow(context, owed.parent_id, (parent) => decideRelease(parent, owed.child_id));
    }
  }
}

function contextOf(owed: OwedRow): CommandContext {
  return {
    actor: 'system:child-reactor',
    correlationId: owed.correlation_id,
    causationId: owed.cause_id,
    keys: [],
    lookedUpAt: -1n,
    seed: `${owed.cause_id}:${owed.kind}`,
    status: 200,
  };
}
