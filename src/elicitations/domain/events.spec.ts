import { expect, it } from '@jest/globals';
import { createEventRegistry } from '../../event-store/catalogue.js';
import type { RawEvent } from '../../event-store/recorded-event.js';

/** As it lies in logs that were written before schema 2 (`test/replay/orchestrator-with-eight-children.ndjson`). */
const stored: RawEvent = {
  id: '01a22ee1-2d5c-752c-a4b8-3b0d4ad0f4ea',
  type: 'ElicitationWithdrawn',
  stream: 'rollcall.session-conv_60afc13384415577a71a20da011f6151',
  revision: 12n,
  position: 101_770n,
  recordedAt: 1_796_082_822_472,
  data: { elicitation_id: 'elicit_01a22ee127c871eeb8a5c6d2a2b5c0f3', reason: 'answered_elsewhere' },
  metadata: {
    schema: 1,
    $correlationId: 'c',
    $causationId: 'c',
    actor: 'anonymous',
    occurred_at: '2026-11-30T23:53:42.472Z',
  },
};

it('a withdrawal of schema 1 reads as it was written', () => {
  expect(createEventRegistry().decode(stored).event).toEqual({ type: stored.type, data: stored.data });
});

it('the reasons that schema 2 added are written as schema 2', () => {
  const registry = createEventRegistry();
  for (const reason of ['interrupted', 'deleted']) {
    const event = { type: 'ElicitationWithdrawn', data: { elicitation_id: 'E', reason } };
    expect(registry.schemaOf(event)).toBe(2);
  }
});
