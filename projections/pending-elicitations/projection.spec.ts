import { describe, it } from '@jest/globals';
import { ProjectionSpecification } from '../../test/support/specifications/projection-specification.js';
import { on, positionOf, timeOf, type Happening } from '../../test/support/specifications/recorded-events.js';
import { expired, requested, resolved, withdrawn } from '../../test/support/specifications/session-events.js';
import type { RollcallEvent } from '../../src/event-store/catalogue.js';
import type { PromptState } from '../../src/elicitations/domain/prompt-book.js';
import { pendingElicitationsProjection } from './projection.js';

const prompts = ProjectionSpecification.for(pendingElicitationsProjection);
const onC = (event: RollcallEvent): Happening => on('C', event, ['R']);

describe('a prompt', () => {
  it('is open from its request on, and known to its whole line', () => {
    prompts.given([onC(requested('E', { message: '?' }, 'r'))]).thenOnly({
      session_id: 'C',
      elicitation_id: 'E',
      root_id: 'R',
      ancestor_ids: ['R'],
      state: 'open',
      params: { message: '?' },
      response_id: 'r',
      expires_at: null,
      requested_at: timeOf(1),
      requested_position: positionOf(1),
      action: null,
      content: null,
      resolved_by: null,
      resolved_via: null,
      withdrawn_reason: null,
      settled_at: null,
      position: positionOf(1),
    });
  });

  it('asked again keeps its place in the order and shows the new payload', () => {
    prompts.given([onC(requested('E', { n: 1 })), onC(requested('F')), onC(requested('E', { n: 2 }))]).then([
      {
        elicitation_id: 'E',
        params: { n: 2 },
        requested_position: positionOf(1),
        requested_at: timeOf(1),
        position: positionOf(3),
      },
      { elicitation_id: 'F' },
    ]);
  });

  it.each<[PromptState, RollcallEvent, object]>([
    ['answered', resolved('E', 'accept'), { action: 'accept', resolved_via: 'resolve' }],
    ['declined', resolved('E', 'decline'), { action: 'decline' }],
    ['cancelled', resolved('E', 'cancel'), { action: 'cancel' }],
    ['expired', expired('E'), { action: null }],
    ['withdrawn', withdrawn('E', 'idle'), { withdrawn_reason: 'idle' }],
  ])('is %s once, and stays so', (state, end, more) => {
    prompts
      .given([
        onC(requested('E')),
        onC(end),
        onC(resolved('E', 'cancel')),
        onC(requested('E', { late: true })),
      ])
      .then([
        {
          state,
          settled_at: timeOf(2),
          position: positionOf(2),
          params: { mode: 'form', message: 'Go on?' },
          ...more,
        },
      ]);
  });

  it('nobody asked for has no row', () => {
    prompts.given([onC(resolved('E', 'accept')), onC(withdrawn('F', 'closed'))]).thenNothing();
  });

  it('is its own on each session', () => {
    prompts
      .given([
        on('A', requested('E'), ['R']),
        on('B', requested('E'), ['R']),
        on('A', resolved('E', 'accept'), ['R']),
      ])
      .then([
        { session_id: 'A', state: 'answered' },
        { session_id: 'B', state: 'open' },
      ]);
  });

  it('keeps the expiry in the unit of the column', () => {
    const event: RollcallEvent = {
      type: 'ElicitationRequested',
      data: { elicitation_id: 'E', params: {}, response_id: null, expires_at: 1_700_000_000.5 },
    };
    prompts.given([onC(event)]).then([{ expires_at: 1_700_000_000_500 }]);
  });
});
