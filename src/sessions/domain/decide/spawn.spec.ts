import { describe, expect, it } from '@jest/globals';
import { DeciderSpecification } from '../../../../test/support/specifications/decider-specification.js';
import {
  childReleased,
  childSpawned,
  childSpawnOf,
  closed,
  spawned,
  spawnOf,
} from '../../../../test/support/specifications/session-events.js';
import { sessionAggregate } from '../../aggregate.js';
import {
  decideBirth,
  decideSpawnChild,
  decideSpawnRoot,
  MAX_TREE_DEPTH,
  type SpawnRequest,
} from './spawn.js';

const session = DeciderSpecification.for(sessionAggregate);
const request = (sessionId: string, stated: Partial<SpawnRequest> = {}): SpawnRequest => ({
  sessionId,
  owner: null,
  agentId: null,
  agentName: null,
  title: null,
  tool: null,
  sessionName: null,
  labels: {},
  ...stated,
});

describe('the spawn of a root', () => {
  it('belongs to its principal and is its own root', () => {
    const stated = { owner: 'ann', agentId: 'ag_1', agentName: 'coder', title: 't', labels: { a: '1' } };
    session
      .given([])
      .when((state) => decideSpawnRoot(state, request('R', stated)))
      .then(
        [
          spawned(
            spawnOf('R', {
              owner: 'ann',
              agent_id: 'ag_1',
              agent_name: 'coder',
              title: 't',
              labels: { a: '1' },
            }),
          ),
        ],
        { session_id: 'R' },
      );
  });

  it('is refused on a stream that has begun', () => {
    session
      .given([spawned(spawnOf('R'))])
      .when((state) => decideSpawnRoot(state, request('R')))
      .thenRefused('already_exists');
  });
});

describe('the spawn of a child', () => {
  const root = spawned(spawnOf('R', { owner: 'ann' }));

  it('carries the owner and the whole line of its parent, whoever asks', () => {
    const spawn = childSpawnOf('C', ['R', 'P'], { owner: 'ann', title: 'a:b' });
    session
      .given([spawned(childSpawnOf('P', ['R'], { owner: 'ann' }))])
      .when((state) => decideSpawnChild(state, request('C', { owner: 'bob', title: 'a:b' }), null))
      .then([childSpawned(spawn)], { spawn });
  });

  it('is refused without a parent, and by a closed one', () => {
    session
      .given([])
      .when((state) => decideSpawnChild(state, request('C'), null))
      .thenRefused('not_found', /Parent session not found/);
    session
      .given([root, closed()])
      .when((state) => decideSpawnChild(state, request('C'), null))
      .thenRefused('conflict', /closed/);
  });

  it(`may lie ${MAX_TREE_DEPTH} levels below the root and no deeper`, () => {
    const line = (levels: number): string[] => Array.from({ length: levels }, (_, level) => `L${level}`);
    session
      .given([spawned(childSpawnOf('P', line(MAX_TREE_DEPTH - 1)))])
      .when((state) => decideSpawnChild(state, request('C'), null))
      .then([childSpawned(childSpawnOf('C', [...line(MAX_TREE_DEPTH - 1), 'P']))]);
    session
      .given([spawned(childSpawnOf('P', line(MAX_TREE_DEPTH)))])
      .when((state) => decideSpawnChild(state, request('C'), null))
      .thenRefused('unprocessable', /64 levels/);
  });

  it('is told who holds the title; equal means equal to the last byte', () => {
    const given = session.given([root, childSpawned(childSpawnOf('A', ['R'], { title: 'a' }))]);
    given
      .when((state) => decideSpawnChild(state, request('C', { title: 'a' }), null))
      .thenNothing({ nameTakenBy: 'A' });
    given
      .when((state) => decideSpawnChild(state, request('C', { title: 'A' }), null))
      .then([childSpawned(childSpawnOf('C', ['R'], { owner: 'ann', title: 'A' }))]);
  });

  it('shares no title, or an empty one, with as many siblings as there are', () => {
    for (const title of [null, '']) {
      session
        .given([root, childSpawned(childSpawnOf('A', ['R'], { title }))])
        .when((state) => decideSpawnChild(state, request('C', { title }), null))
        .then([childSpawned(childSpawnOf('C', ['R'], { owner: 'ann', title }))]);
    }
  });

  it('releases a holder that was seen closed in the same append, and no other', () => {
    const given = session.given([root, childSpawned(childSpawnOf('A', ['R'], { title: 'a' }))]);
    given
      .when((state) => decideSpawnChild(state, request('C', { title: 'a' }), 'A'))
      .then([childReleased('A'), childSpawned(childSpawnOf('C', ['R'], { owner: 'ann', title: 'a' }))]);
    given
      .when((state) => decideSpawnChild(state, request('C', { title: 'a' }), 'B'))
      .thenNothing({ nameTakenBy: 'A' });
  });
});

describe('a birth', () => {
  const spawn = childSpawnOf('C', ['R']);

  it('opens the stream of the child once, whoever comes first', () => {
    session
      .given([])
      .when((state) => decideBirth(state, spawn))
      .then([spawned(spawn)]);
    session
      .given([spawned(spawn)])
      .when((state) => decideBirth(state, spawn))
      .thenNothing();
  });

  it('makes the child exactly what the parent was told', () => {
    const parent = session.given([spawned(spawnOf('R', { owner: 'ann' }))]).state;
    const decision = decideSpawnChild(
      parent,
      request('C', { title: 't', tool: 'x', labels: { a: '1' } }),
      null,
    );
    const told = 'refused' in decision ? null : decision.result;
    expect(told).toEqual({
      spawn: childSpawnOf('C', ['R'], { owner: 'ann', title: 't', tool: 'x', labels: { a: '1' } }),
    });
  });
});
