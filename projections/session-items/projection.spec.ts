import { describe, it } from '@jest/globals';
import { ProjectionSpecification } from '../../test/support/specifications/projection-specification.js';
import { on, positionOf, timeOf } from '../../test/support/specifications/recorded-events.js';
import { itemAppended, message, spawned, spawnOf } from '../../test/support/specifications/session-events.js';
import { sessionItemsProjection } from './projection.js';

const items = ProjectionSpecification.for(sessionItemsProjection);

describe('the items of a session', () => {
  it('lie in log order, each as it was stored', () => {
    items
      .given([
        on('R', spawned(spawnOf('R'))),
        on('R', itemAppended('i1', 'function_call_output', { call_id: 'c', output: '' })),
      ])
      .thenOnly({
        session_id: 'R',
        item_id: 'i1',
        response_id: 'resp_i1',
        type: 'function_call_output',
        payload: { call_id: 'c', output: '' },
        created_by: null,
        created_at: timeOf(2),
        position: positionOf(2),
      });
  });

  it('are there once, and the first of an id stands', () => {
    items
      .given([
        on('R', message('i1', 'user', 'first')),
        on('R', message('i1', 'user', 'second')),
        on('S', message('i1', 'user', 'other')),
      ])
      .then([
        { session_id: 'R', item_id: 'i1', position: positionOf(1) },
        { session_id: 'S', item_id: 'i1', position: positionOf(3) },
      ]);
  });
});
