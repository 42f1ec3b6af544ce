import { describe, expect, it } from '@jest/globals';
import { renamed, spawned, spawnOf, message } from '../../../test/support/specifications/session-events.js';
import { refuse } from '../../refusal.js';
import { sessionAggregate } from '../../sessions/aggregate.js';
import type { SessionStreamEvent } from '../../sessions/domain/facts.js';
import { noSession, type SessionState } from '../../sessions/domain/state.js';
import { createEventRegistry } from '../catalogue.js';
import type { Decision } from './aggregate.js';
import { eventIdSource, type CommandContext } from './command-context.js';
import { APPEND_LIMIT_BYTES, Job, type Step } from './job.js';
import { RecentCommands } from './recent-commands.js';

const registry = createEventRegistry();
const born = spawned(spawnOf('R'));
const standing = sessionAggregate.evolve(noSession, born, { position: 1n, recordedAt: 1_000 });
const key = { key: 'k', hash: 'h' };
const context = (stated: Partial<CommandContext> = {}): CommandContext => ({
  actor: 'anonymous',
  correlationId: 'c',
  causationId: 'c',
  keys: [],
  lookedUpAt: -1n,
  seed: null,
  status: 200,
  ...stated,
});

type Decide = (state: SessionState) => Decision<SessionStreamEvent, { id: string }>;
const happens =
  (...events: SessionStreamEvent[]): Decide =>
  () => ({ events, result: { id: 'x' } });

function step(
  decide: Decide,
  stated: Partial<CommandContext> = {},
  recent = new RecentCommands(-1n),
): Step<SessionState, { id: string }> {
  const job = new Job({ context: context(stated), decide, record: (result) => result });
  return job.step(sessionAggregate, registry, standing, recent, 5_000);
}

describe('a job on a stream', () => {
  it('decides events that carry lineage and, at the end, the keys of the command', () => {
    const decided = step(happens(renamed('a'), renamed('b')), { keys: [key] });
    expect(decided).toMatchObject({
      events: [
        { metadata: { root_id: 'R', ancestor_ids: [] } },
        { metadata: { command: { keys: [key], status: 200, result: { id: 'x' } } } },
      ],
      state: { facts: { title: 'b' } },
    });
    expect('events' in decided && decided.events[0]?.metadata.command).toBeUndefined();
  });

  it('is settled at once when it is refused or changes nothing', () => {
    expect(step(() => refuse('conflict', 'no'))).toMatchObject({
      settled: { kind: 'refused', refusal: { code: 'conflict' } },
    });
    expect(step(happens())).toMatchObject({ settled: { kind: 'done', position: null } });
  });

  it('is refused when its events are larger than one append may be', () => {
    const large = happens(message('i', 'user', 'x'.repeat(APPEND_LIMIT_BYTES)));
    expect(step(large)).toMatchObject({ settled: { refusal: { code: 'payload_too_large' } } });
  });

  it('keeps the ids of its events however often it is decided', () => {
    const job = new Job({ context: context(), decide: happens(renamed('a')), record: (result) => result });
    const ids = [0, 1].map(() => {
      const decided = job.step(sessionAggregate, registry, standing, new RecentCommands(-1n), 1);
      return 'events' in decided ? decided.events[0]?.id : null;
    });
    expect(ids[0]).toMatch(/^[0-9a-f-]{36}$/);
    expect(ids[1]).toBe(ids[0]);
  });
});

describe('a key that was used before', () => {
  const recent = new RecentCommands(-1n);
  recent.add({ keys: [key], status: 200, result: { id: 'first' } }, 7n);
  const never: Decide = () => {
    throw new Error('must not be decided');
  };

  it('answers as it did then', () => {
    expect(step(never, { keys: [key] }, recent)).toMatchObject({
      settled: { kind: 'replayed', record: { result: { id: 'first' } }, position: 7n },
    });
  });

  it('is refused for another body', () => {
    expect(step(never, { keys: [{ ...key, hash: 'other' }] }, recent)).toMatchObject({
      settled: { kind: 'refused', refusal: { code: 'idempotency_mismatch' } },
    });
  });

  it('is looked up again when the look-up is older than what is remembered', () => {
    const pruned = new RecentCommands(50n);
    expect(step(never, { keys: [key], lookedUpAt: 49n }, pruned)).toEqual({
      settled: { kind: 'look-again', from: 50n },
    });
    expect(step(happens(renamed('a')), { keys: [key], lookedUpAt: 50n }, pruned)).toHaveProperty('events');
  });
});

describe('event ids', () => {
  it('follow from seed or key and body, each event its own', () => {
    const ids = (stated: Partial<CommandContext>): string[] => [0, 1].map(eventIdSource(context(stated)));
    const keyed = ids({ keys: [key] });
    expect(ids({ keys: [key] })).toEqual(keyed);
    expect(new Set([...keyed, ...ids({ keys: [{ ...key, hash: 'o' }] }), ...ids({ seed: 's' })]).size).toBe(
      6,
    );
    expect(ids({ seed: 's', keys: [key] })).toEqual(ids({ seed: 's' }));
  });

  it('are left to chance without either', () => {
    expect(eventIdSource(context())(0)).not.toBe(eventIdSource(context())(0));
  });
});
