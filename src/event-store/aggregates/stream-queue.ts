import type { Clock } from '../../clock/clock.js';
import type { FaultPoints } from '../../fault-points/fault-points.js';
import { refuse } from '../../refusal.js';
import { LogUnavailable } from '../errors.js';
import type { EventLog } from '../event-log.js';
import type { EventRegistry } from '../event-registry.js';
import type { DomainEvent } from '../event-type.js';
import type { Position } from '../position.js';
import type { EncodedEvent } from '../recorded-event.js';
import type { Aggregate } from './aggregate.js';
import type { Outcome } from './command-context.js';
import { APPEND_LIMIT_BYTES, type Step } from './job.js';
import type { RecentCommands } from './recent-commands.js';
import type { SnapshotStore } from './snapshot-store.js';
import { fromSnapshot, readTail, type StreamState } from './stream-state.js';

const JOBS_PER_APPEND = 64;
/** Events between two stored snapshots: a few milliseconds of reading, whatever the length of the stream. */
const EVENTS_PER_SNAPSHOT = 256n;
/** Each conflict means that another node wrote first; losing this often in a row means that it writes without pause. */
const MAX_CONFLICTS = 16;

export interface QueuedJob<State, Event extends DomainEvent> {
  step(
    aggregate: Aggregate<State, Event>,
    registry: EventRegistry,
    state: State,
    recent: RecentCommands,
    now: number,
  ): Step<State, unknown>;
  resolve(outcome: Outcome<unknown>): void;
  reject(error: unknown): void;
}

export interface StreamPorts<State> {
  readonly log: EventLog;
  readonly registry: EventRegistry;
  readonly clock: Clock;
  readonly faults: FaultPoints;
  readonly snapshots: SnapshotStore;
  /** The newest committed checkpoint that this process knows of. */
  readonly checkpoint: () => Position;
  readonly recall: () => StreamState<State> | undefined;
  readonly remember: (known: StreamState<State>) => void;
  readonly forget: () => void;
}

/** A decision that threw: the fault of its own command, not of those that wait beside it. */
interface FailedStep {
  readonly settled: { readonly kind: 'failed'; readonly error: unknown };
}

type PlannedStep<State> = Step<State, unknown> | FailedStep;

interface Plan<State> {
  readonly events: readonly EncodedEvent[];
  /** In order; what is settled without events counts only once the events before it are written. */
  readonly steps: readonly PlannedStep<State>[];
}

/**
 * Commands for one stream, one append at a time: those that wait while an append is under way are decided one after
 * the other and written together. The order of waiting is the order in the log.
 */
export class StreamQueue<State, Event extends DomainEvent> {
  private readonly waiting: QueuedJob<State, Event>[] = [];
  private running = false;

  constructor(
    private readonly aggregate: Aggregate<State, Event>,
    private readonly stream: string,
    private readonly ports: StreamPorts<State>,
    private readonly unread: StreamState<State>,
    private readonly idle: () => void,
  ) {}

  add(job: QueuedJob<State, Event>, presumedNew: boolean): void {
    this.waiting.push(job);
    if (this.running) return;
    this.running = true;
    void this.drain(presumedNew);
  }

  private async drain(presumedNew: boolean): Promise<void> {
    let skipLoad = presumedNew;
    while (this.waiting.length > 0) {
      const jobs = this.waiting.splice(0, JOBS_PER_APPEND);
      try {
        const served = await this.serve(jobs, skipLoad);
        this.waiting.unshift(...jobs.slice(served));
      } catch (error) {
        this.ports.forget();
        for (const job of jobs) job.reject(error);
        if (error instanceof LogUnavailable) this.giveUp();
      }
      skipLoad = false;
    }
    this.running = false;
    this.idle();
  }

  /** Those that waited behind a log that does not answer have waited long enough. */
  private giveUp(): void {
    for (const job of this.waiting.splice(0)) job.reject(new LogUnavailable('nothing-written'));
  }

  /** Serves a prefix of `jobs` and says how many. */
  private async serve(jobs: readonly QueuedJob<State, Event>[], presumedNew: boolean): Promise<number> {
    const recalled = this.ports.recall() ?? (presumedNew ? this.unread : undefined);
    let known = recalled ?? (await this.tail(await this.stored())).stream;
    let plan = this.plan(jobs, known);
    // What is recalled may be older than the log, since another node may have written. An append would find out; what
    // is settled without one must not rest on it.
    if (recalled && plan.steps.some((step) => 'settled' in step)) {
      known = (await this.tail(known)).stream;
      plan = this.plan(jobs, known);
    }
    for (let conflicts = 0; conflicts < MAX_CONFLICTS; conflicts += 1) {
      const position = await this.write(known, plan);
      if (position !== 'conflict') return this.settle(jobs, plan, position ?? known.position);
      const tail = await this.tail(known).catch((error: unknown) => {
        // The conflict may be with this very append, had its first answer been lost.
        throw error instanceof LogUnavailable ? new LogUnavailable('unknown', error) : error;
      });
      const written = writtenAt(plan, tail.positions);
      if (written !== null) return this.settle(jobs, plan, written);
      known = tail.stream;
      plan = this.plan(jobs, known);
    }
    const refusal = refuse(
      'log_unavailable',
      'The session is being written without pause; nothing was stored.',
    );
    for (const job of jobs) job.resolve({ kind: 'refused', refusal });
    return jobs.length;
  }

  private plan(jobs: readonly QueuedJob<State, Event>[], known: StreamState<State>): Plan<State> {
    const events: EncodedEvent[] = [];
    const steps: PlannedStep<State>[] = [];
    let { state } = known;
    let bytes = 0;
    for (const job of jobs) {
      const step = this.step(job, state, known.recent);
      if (!('settled' in step)) {
        if (steps.length > 0 && bytes + step.bytes > APPEND_LIMIT_BYTES) break;
        bytes += step.bytes;
        events.push(...step.events);
        state = step.state;
      }
      steps.push(step);
    }
    return { events, steps };
  }

  private step(job: QueuedJob<State, Event>, state: State, recent: RecentCommands): PlannedStep<State> {
    try {
      return job.step(this.aggregate, this.ports.registry, state, recent, this.ports.clock.now());
    } catch (error) {
      return { settled: { kind: 'failed', error } };
    }
  }

  private async write(known: StreamState<State>, plan: Plan<State>): Promise<Position | null | 'conflict'> {
    if (plan.events.length === 0) return null;
    await this.ports.faults.pass('before-append');
    const expected = known.revision < 0n ? 'no-stream' : known.revision;
    const appended = await this.ports.log.append(this.stream, plan.events, expected);
    if (appended.outcome === 'conflict') return 'conflict';
    await this.ports.faults.pass('after-append');
    for (const step of plan.steps) {
      if (!('settled' in step) && step.record) known.recent.add(step.record, appended.position);
    }
    known.recent.prune(this.ports.checkpoint());
    const state = this.fold(known.state, plan, appended.position);
    const written = { ...known, state, revision: appended.revision, position: appended.position };
    this.ports.remember({ ...written, savedRevision: this.save(written) });
    return appended.position;
  }

  /** Again, now that the position is known; the last event's is exact, and only that one is ever compared. */
  private fold(from: State, plan: Plan<State>, position: Position): State {
    const place = { position, recordedAt: this.ports.clock.now() };
    const decided = plan.steps.flatMap((step) => ('settled' in step ? [] : step.decided));
    // What this aggregate's own decisions made is of its own event type.
    return decided.reduce<State>((state, event) => this.aggregate.evolve(state, event as Event, place), from);
  }

  /**
   * `position`: of the last event that the decisions rest on, written now or before. What changed nothing answers with
   * it too, so that its answer shows what it found.
   */
  private settle(jobs: readonly QueuedJob<State, Event>[], plan: Plan<State>, position: Position): number {
    plan.steps.forEach((step, index) => {
      const done: Outcome<unknown> | FailedStep['settled'] =
        'settled' in step ? step.settled : { kind: 'done', result: step.result, position };
      if (done.kind === 'failed') jobs[index]?.reject(done.error);
      else
        jobs[index]?.resolve(done.kind === 'done' && done.position === null ? { ...done, position } : done);
    });
    return plan.steps.length;
  }

  private stored(): Promise<StreamState<State>> {
    return fromSnapshot(this.ports.snapshots, this.aggregate, this.stream);
  }

  /** Stores a snapshot when the last one is old; returns the revision of the newest. */
  private save({ state, revision, position, savedRevision }: StreamState<State>): bigint {
    const codec = this.aggregate.snapshots;
    if (!codec || revision - savedRevision < EVENTS_PER_SNAPSHOT) return savedRevision;
    void this.ports.snapshots.save(this.stream, codec.version, {
      revision,
      position,
      state: codec.toJson(state),
    });
    return revision;
  }

  private async tail(known: StreamState<State>): ReturnType<typeof readTail<State, Event>> {
    const read = await readTail(this.ports.log, this.ports.registry, this.aggregate, this.stream, known);
    this.ports.remember(read.stream);
    return read;
  }
}

/**
 * Where the tail holds this very append, whose outcome had been unknown; null when it does not. The ids of a keyed
 * command's events follow from its key, so the tail may hold them from a twin on another node, without what waited
 * beside it here: only all of the plan is the plan, and a plan of keyed commands alone is decided again, as repeats.
 */
function writtenAt(plan: Plan<unknown>, positions: ReadonlyMap<string, Position>): Position | null {
  if (!plan.events.every(({ id }) => positions.has(id))) return null;
  if (plan.steps.every((step) => 'settled' in step || step.record !== null)) return null;
  const last = plan.events.at(-1);
  return (last && positions.get(last.id)) ?? null;
}
