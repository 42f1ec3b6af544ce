import { expect, it } from '@jest/globals';
import { createEventRegistry } from './catalogue.js';
import { encodeEvent, type EventOrigin } from './encode.js';
import { renamed } from '../../test/support/specifications/session-events.js';

const registry = createEventRegistry();
const origin: EventOrigin = {
  id: 'id',
  correlationId: 'c',
  causationId: 'd',
  actor: 'user:ann',
  occurredAt: 0,
  lineage: { root_id: 'R', ancestor_ids: ['R'] },
  command: null,
};

it('an event leaves with all that projectors need to place it', () => {
  expect(encodeEvent(registry, renamed('é'), origin)).toMatchObject({
    id: 'id',
    type: 'SessionRenamed',
    data: { title: 'é' },
    metadata: {
      schema: 1,
      $correlationId: 'c',
      $causationId: 'd',
      actor: 'user:ann',
      occurred_at: '1970-01-01T00:00:00.000Z',
      root_id: 'R',
      ancestor_ids: ['R'],
    },
  });
});

it('an event has the size of its bytes when it leaves', () => {
  const event = { type: 'ItemAppended', data: { ...itemData, payload: { text: '😀' } } };
  const encoded = encodeEvent(registry, event, origin);
  const text = JSON.stringify({ data: encoded.data, metadata: encoded.metadata });
  expect(encoded.bytes).toBe(Buffer.byteLength(text) + 2 * event.type.length);
});

it('what JSON cannot hold never reaches the client', () => {
  const event = { type: 'ItemAppended', data: { ...itemData, payload: { n: 1n } } };
  expect(() => encodeEvent(registry, event, origin)).toThrow(TypeError);
});

it('what the registry does not know cannot leave', () => {
  expect(() => encodeEvent(registry, { type: 'SessionForgotten', data: {} }, origin)).toThrow(
    /not registered/,
  );
});

const itemData = { item_id: 'i', response_id: 'r', item_type: 'message', created_by: null };
