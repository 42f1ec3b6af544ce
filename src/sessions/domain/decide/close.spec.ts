import { describe, it } from '@jest/globals';
import { DeciderSpecification } from '../../../../test/support/specifications/decider-specification.js';
import {
  childReleased,
  childSpawned,
  childSpawnOf,
  closed,
  requested,
  resolved,
  spawned,
  spawnOf,
  withdrawn,
} from '../../../../test/support/specifications/session-events.js';
import { sessionAggregate } from '../../aggregate.js';
import { decideClose, decideRelease } from './close.js';

const session = DeciderSpecification.for(sessionAggregate);

describe('a close', () => {
  it('withdraws what is still open in the same append (design 13.9)', () => {
    session
      .given([spawned(spawnOf('R')), requested('E1'), requested('E2'), resolved('E1', 'accept')])
      .when((state) => decideClose(state, { reason: 'cancelled', successorId: 'S' }))
      .then([withdrawn('E2', 'closed'), closed('cancelled', 'S')]);
  });

  it('changes nothing when it comes again, whatever its reason', () => {
    session
      .given([spawned(spawnOf('R')), closed('done')])
      .when((state) => decideClose(state, { reason: 'cancelled', successorId: null }))
      .thenNothing(null);
  });

  it('is refused without a session', () => {
    session
      .given([])
      .when((state) => decideClose(state, { reason: 'done', successorId: null }))
      .thenRefused('not_found');
  });
});

describe('the release of a name', () => {
  const held = session.given([spawned(spawnOf('R')), childSpawned(childSpawnOf('A', ['R'], { title: 'a' }))]);

  it('happens once', () => {
    held.when((state) => decideRelease(state, 'A')).then([childReleased('A')]);
    held.when((state) => decideRelease(state, 'B')).thenNothing();
    session
      .given([
        spawned(spawnOf('R')),
        childSpawned(childSpawnOf('A', ['R'], { title: 'a' })),
        childReleased('A'),
      ])
      .when((state) => decideRelease(state, 'A'))
      .thenNothing();
  });
});
