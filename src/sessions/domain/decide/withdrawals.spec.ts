import { describe, expect, it } from '@jest/globals';
import { childSpawnOf, requested, spawned } from '../../../../test/support/specifications/session-events.js';
import { MAX_OPEN_PROMPTS } from '../../../elicitations/domain/decide.js';
import type { Decision } from '../../../event-store/aggregates/aggregate.js';
import { APPEND_LIMIT_BYTES, Job } from '../../../event-store/aggregates/job.js';
import { RecentCommands } from '../../../event-store/aggregates/recent-commands.js';
import { createEventRegistry } from '../../../event-store/catalogue.js';
import { sessionAggregate } from '../../aggregate.js';
import type { SessionStreamEvent } from '../facts.js';
import { noSession, type SessionState } from '../state.js';
import { decideClose } from './close.js';
import type { CascadeIntent } from '../cascades.js';
import type { CascadeKind } from '../events.js';
import { decideStatus } from './change-status.js';
import { decideDelete, decideFollowDelete } from './delete.js';
import { decideFollowInterrupt, decideInterrupt } from './interrupt.js';

/** What ends a session withdraws all its open prompts in one append, so these must fit, whatever they are called. */
const LONGEST_ID = '\u{1F4DD}'.repeat(255);
const LONGEST_NAME = '\u{1F4DD}'.repeat(320);
const DEPTH = 64;

const line = Array.from({ length: DEPTH }, (_, n) => `conv_${String(n).padStart(32, '0')}`);
const at = { position: 1n, recordedAt: 1_000 };
const born = spawned(childSpawnOf('conv_'.padEnd(37, 'f'), line));
const full = Array.from({ length: MAX_OPEN_PROMPTS }, (_, n) => String(n).padStart(3, '0'))
  .map((n) => requested(n + LONGEST_ID.slice(2 * n.length)))
  .reduce<SessionState>(
    (state, event) => sessionAggregate.evolve(state, event, at),
    sessionAggregate.evolve(noSession, born, at),
  );

const from = (kind: CascadeKind): CascadeIntent => ({ kind, top: line[0] ?? '', sequence: 1_000_000 });

function bytesOf(decide: (state: SessionState) => Decision<SessionStreamEvent, unknown>): number {
  const context = {
    actor: `user:${LONGEST_NAME}`,
    correlationId: 'c'.repeat(36),
    causationId: 'c'.repeat(36),
    keys: [{ key: 'k'.repeat(64), hash: 'h'.repeat(64) }],
    lookedUpAt: 0n,
    seed: null,
    status: 200,
  };
  const job = new Job({ context, decide, record: () => ({}) });
  const step = job.step(sessionAggregate, createEventRegistry(), full, new RecentCommands(-1n), 1_000);
  if ('settled' in step) throw new Error(JSON.stringify(step.settled));
  expect(step.events).toHaveLength(MAX_OPEN_PROMPTS + 1);
  return step.bytes;
}

describe('a session at the greatest depth with as many open prompts as it may hold', () => {
  it('can be closed', () => {
    const bytes = bytesOf((state) =>
      decideClose(state, { reason: 'cancelled', successorId: line[0] ?? null }),
    );
    expect(bytes).toBeLessThan(APPEND_LIMIT_BYTES);
  });

  it('can fail', () => {
    const edge = { responseId: null, backgroundTaskCount: null, blockedOn: null, output: 'broken' };
    const bytes = bytesOf((state) =>
      decideStatus(state, { ...edge, status: 'failed', reauthRequired: false }),
    );
    expect(bytes).toBeLessThan(APPEND_LIMIT_BYTES);
  });

  it.each<[string, (state: SessionState) => Decision<SessionStreamEvent, unknown>]>([
    ['interrupted', (state) => decideInterrupt(state, 'interrupt')],
    ['interrupted from above', (state) => decideFollowInterrupt(state, from('interrupt'), 'interrupt')],
    ['deleted', decideDelete],
    ['deleted from above', (state) => decideFollowDelete(state, from('delete'))],
  ])('can be %s', (_how, decide) => {
    expect(bytesOf(decide)).toBeLessThan(APPEND_LIMIT_BYTES);
  });
});
