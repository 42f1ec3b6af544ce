import { describe, it } from '@jest/globals';
import { ProjectionSpecification } from '../../test/support/specifications/projection-specification.js';
import { on, positionOf, timeOf, type Happening } from '../../test/support/specifications/recorded-events.js';
import {
  childSpawnOf,
  closed,
  deleted,
  expired,
  interrupted,
  requested,
  resolved,
  spawned,
  statusChanged,
  withdrawn,
} from '../../test/support/specifications/session-events.js';
import type { RollcallEvent } from '../../src/event-store/catalogue.js';
import { sessionRollupsProjection } from './projection.js';

const rollups = ProjectionSpecification.for(sessionRollupsProjection);
/** G below C below R. */
const onG = (event: RollcallEvent): Happening => on('G', event, ['R', 'C']);
const own = (counts: object): object => ({ ancestor_id: 'G', session_id: 'G', ...counts });
const toAncestors = (counts: object): [object, object] => [
  { ancestor_id: 'C', session_id: 'G', open_prompts: null, settled_prompts: null, ...counts },
  { ancestor_id: 'R', session_id: 'G', open_prompts: null, settled_prompts: null, ...counts },
];
const both = (counts: object, more: object = {}): object[] => {
  const [parent, root] = toAncestors(counts);
  return [parent, own({ ...counts, ...more }), root];
};

describe('what a session contributes to itself and to everything above it', () => {
  it('counts each open prompt once, oldest first', () => {
    rollups
      .given([onG(requested('E1')), onG(requested('E2')), onG(requested('E1', { again: true }))])
      .then(
        both(
          { pending: 2, busy: 0, oldest_pending_at: timeOf(1), position: positionOf(3) },
          { open_prompts: { E1: timeOf(1), E2: timeOf(2) } },
        ),
      );
  });

  it.each<[string, RollcallEvent]>([
    ['a verdict', resolved('E1', 'decline')],
    ['expiry', expired('E1')],
    ['withdrawal', withdrawn('E1', 'failed')],
  ])('counts one less after %s', (_what, end) => {
    rollups
      .given([onG(requested('E1')), onG(requested('E2')), onG(end)])
      .then(both({ pending: 1, oldest_pending_at: timeOf(2) }, { settled_prompts: ['E1'] }));
  });

  it('leaves nothing above it when nothing is left', () => {
    rollups
      .given([onG(requested('E1')), onG(resolved('E1', 'accept'))])
      .then([
        own({ pending: 0, busy: 0, oldest_pending_at: null, open_prompts: {}, settled_prompts: ['E1'] }),
      ]);
  });

  it('never counts below zero, nor again what was settled', () => {
    rollups
      .given([
        onG(resolved('E0', 'accept')),
        onG(requested('E1')),
        onG(resolved('E1', 'accept')),
        onG(resolved('E1', 'accept')),
        onG(requested('E1')),
      ])
      .then([own({ pending: 0 })]);
  });

  it.each([
    ['running', 1],
    ['waiting', 1],
  ] as const)('is busy while it is %s', (status, busy) => {
    rollups.given([onG(statusChanged(status))]).then(both({ pending: 0, busy }));
    rollups.given([onG(statusChanged(status)), onG(statusChanged('idle'))]).then([own({ busy: 0 })]);
    rollups.given([onG(statusChanged(status)), onG(statusChanged('failed'))]).then([own({ busy: 0 })]);
  });

  it.each<[string, RollcallEvent]>([
    ['an interrupt', interrupted()],
    ['a close', closed()],
    ['its deletion', deleted()],
  ])('is busy no more after %s, which alone leaves nothing', (_what, end) => {
    rollups.given([onG(statusChanged('running')), onG(end)]).then([own({ pending: 0, busy: 0 })]);
    rollups.given([onG(end)]).thenNothing();
  });

  it('needs no row of the session, and takes no notice of other events', () => {
    rollups.given([onG(spawned(childSpawnOf('G', ['R', 'C'])))]).thenNothing();
  });

  it('keeps two prompts of one id on two sessions apart', () => {
    rollups
      .given([
        on('A', requested('E'), ['R']),
        on('B', requested('E'), ['R']),
        on('A', resolved('E', 'accept'), ['R']),
      ])
      .then([
        { ancestor_id: 'A', session_id: 'A', pending: 0 },
        { ancestor_id: 'B', session_id: 'B', pending: 1 },
        { ancestor_id: 'R', session_id: 'B', pending: 1 },
      ]);
  });
});
