import { describe, it } from '@jest/globals';
import { DeciderSpecification } from '../../../../test/support/specifications/decider-specification.js';
import {
  after,
  childReleased,
  childSpawned,
  childSpawnOf,
  closed,
  interrupted,
  requested,
  spawned,
  spawnOf,
  statusChanged,
  withdrawn,
} from '../../../../test/support/specifications/session-events.js';
import { sessionAggregate } from '../../aggregate.js';
import { decideFollowInterrupt, decideInterrupt } from './interrupt.js';

const session = DeciderSpecification.for(sessionAggregate);
const root = spawned(spawnOf('R'));
const child = childSpawned(childSpawnOf('C', ['R']));
const interrupt = (state: Parameters<typeof decideInterrupt>[0]): ReturnType<typeof decideInterrupt> =>
  decideInterrupt(state, 'interrupt');

describe('an interrupt', () => {
  it('ends the turn and withdraws what is open, in one append (design 13.9)', () => {
    session
      .given([root, statusChanged('running', { response_id: 'r1' }), requested('E1'), requested('E2')])
      .when(interrupt)
      .then(
        [
          withdrawn('E1', 'interrupted'),
          withdrawn('E2', 'interrupted'),
          interrupted({ response_id: 'r1', sequence: 1 }),
        ],
        { sequence: null },
      );
  });

  it.each(['running', 'waiting'] as const)('is recorded of a session that is %s', (status) => {
    session
      .given([root, statusChanged(status)])
      .when(interrupt)
      .then([interrupted()]);
  });

  it('is recorded of an idle session that asks something', () => {
    session
      .given([root, statusChanged('idle'), requested('E')])
      .when(interrupt)
      .then([withdrawn('E', 'interrupted'), interrupted()]);
  });

  it.each(['idle', 'failed'] as const)('finds nothing in a session alone that is %s', (status) => {
    session.given([root]).when(interrupt).thenNothing({ sequence: null });
    session
      .given([root, statusChanged(status)])
      .when(interrupt)
      .thenNothing({ sequence: null });
  });

  it('again finds nothing more', () => {
    session
      .given([root, statusChanged('running'), interrupted()])
      .when(interrupt)
      .thenNothing();
  });

  it('of a session with children is always the intent for them, numbered', () => {
    session
      .given([root, child])
      .when(interrupt)
      .then([interrupted({ sequence: 1, children: 1 })], { sequence: 1 });
    session
      .given([root, child, childReleased('C'), interrupted({ children: 1 })])
      .when((state) => decideInterrupt(state, 'stop'))
      .then([interrupted({ requested: 'stop', sequence: 2, children: 1 })], { sequence: 2 });
  });

  it('reaches the children of a closed session', () => {
    session
      .given([root, child, closed()])
      .when(interrupt)
      .then([interrupted({ children: 1 })]);
  });

  it('needs a session', () => {
    session.given([]).when(interrupt).thenRefused('not_found');
  });
});

describe('an interrupt from above', () => {
  const C = spawned(childSpawnOf('C', ['R']));
  const intent = { kind: 'interrupt', top: 'R', sequence: 2 } as const;
  const follow = (
    state: Parameters<typeof decideFollowInterrupt>[0],
  ): ReturnType<typeof decideFollowInterrupt> => decideFollowInterrupt(state, intent, 'stop');
  const followed = interrupted({ requested: 'stop', follows: after('R', 2) });

  it('ends what a session is doing, and says whom it follows', () => {
    session
      .given([C, statusChanged('waiting'), requested('E')])
      .when(follow)
      .then([withdrawn('E', 'interrupted'), followed]);
  });

  it('leaves an idle session alone, also one with children', () => {
    session
      .given([C, childSpawned(childSpawnOf('G', ['R', 'C']))])
      .when(follow)
      .thenNothing();
    session.given([]).when(follow).thenNothing();
  });

  it('takes a session once: work that began after it goes on, however often the cascade is begun again', () => {
    const again = [C, statusChanged('running'), followed, statusChanged('running')];
    session.given(again).when(follow).thenNothing();
    session
      .given(again)
      .when((state) => decideFollowInterrupt(state, { ...intent, sequence: 3 }, 'stop'))
      .then([interrupted({ requested: 'stop', sequence: 2, follows: after('R', 3) })]);
    session
      .given(again)
      .when((state) => decideFollowInterrupt(state, { ...intent, top: 'P' }, 'stop'))
      .then([interrupted({ requested: 'stop', sequence: 2, follows: after('P', 2) })]);
  });
});
