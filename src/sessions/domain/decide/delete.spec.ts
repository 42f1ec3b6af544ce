import { describe, expect, it } from '@jest/globals';
import { DeciderSpecification } from '../../../../test/support/specifications/decider-specification.js';
import {
  after,
  cascadeCompleted,
  childReleased,
  childSpawned,
  childSpawnOf,
  deleted,
  interrupted,
  requested,
  spawned,
  spawnOf,
  statusChanged,
  withdrawn,
} from '../../../../test/support/specifications/session-events.js';
import { sessionAggregate } from '../../aggregate.js';
import { isRunning } from '../cascades.js';
import { apparent, noSession } from '../state.js';
import { decideCascadeCompleted, decideReach } from './cascade.js';
import { decideDelete } from './delete.js';
import { decideSpawnChild } from './spawn.js';

const session = DeciderSpecification.for(sessionAggregate);
const root = spawned(spawnOf('R'));
const child = (id: string): ReturnType<typeof childSpawned> => childSpawned(childSpawnOf(id, ['R']));

describe('a deletion', () => {
  it('withdraws what is open in the same append (design 13.9)', () => {
    session
      .given([root, statusChanged('running'), requested('E')])
      .when(decideDelete)
      .then([withdrawn('E', 'deleted'), deleted()], { sequence: null });
  });

  it('of a session with children is the intent for them, for those released too', () => {
    session
      .given([root, child('A'), child('B'), childReleased('A')])
      .when(decideDelete)
      .then([deleted(2)], { sequence: 1 });
  });

  it('leaves nothing to be found', () => {
    const { state } = session.given([root, statusChanged('running'), deleted()]);
    expect(apparent(state)).toBe(noSession);
    expect(state.facts).toMatchObject({ deleted: true, status: 'idle', activeResponseId: null });
    session.given([root, deleted()]).when(decideDelete).thenRefused('not_found');
    session.given([]).when(decideDelete).thenRefused('not_found');
  });

  it('lets no child be born afterwards', () => {
    const request = { sessionId: 'C', owner: null, agentId: null, agentName: null, title: null };
    session
      .given([root, deleted()])
      .when((state) =>
        decideSpawnChild(state, { ...request, tool: null, sessionName: null, labels: {} }, null),
      )
      .thenRefused('not_found');
  });
});

describe('a session that a cascade reaches', () => {
  const C = spawned(childSpawnOf('C', ['R']));
  const G = childSpawned(childSpawnOf('G', ['R', 'C']));
  const deletion = { kind: 'delete', top: 'R', sequence: 1 } as const;
  const interrupt = { kind: 'interrupt', top: 'R', sequence: 1 } as const;

  it('hears of it first, and then names its children', () => {
    session
      .given([C, G, requested('E')])
      .when((state) => decideReach(state, deletion, 'interrupt'))
      .then([withdrawn('E', 'deleted'), deleted(1, after('R'))], { children: ['G'] });
    session
      .given([C, G, statusChanged('running')])
      .when((state) => decideReach(state, interrupt, 'stop'))
      .then([interrupted({ requested: 'stop', follows: after('R'), children: 1 })], { children: ['G'] });
  });

  it('names them also when it had been reached, or is idle', () => {
    session
      .given([C, G, deleted(1, after('R'))])
      .when((state) => decideReach(state, deletion, 'interrupt'))
      .thenNothing({ children: ['G'] });
    session
      .given([C, G])
      .when((state) => decideReach(state, interrupt, 'stop'))
      .thenNothing({ children: ['G'] });
  });

  it('that was deleted by itself stays as it is', () => {
    session
      .given([C, deleted()])
      .when((state) => decideReach(state, deletion, 'interrupt'))
      .thenNothing({ children: [] });
  });

  it('is not reached before it is born', () => {
    session
      .given([])
      .when((state) => decideReach(state, deletion, 'interrupt'))
      .thenNothing({ children: null });
  });
});

describe('a cascade', () => {
  const complete = (
    state: Parameters<typeof decideCascadeCompleted>[0],
  ): ReturnType<typeof decideCascadeCompleted> =>
    decideCascadeCompleted(state, { kind: 'interrupt', top: 'R', sequence: 2 });

  it('is completed once', () => {
    const begun = [root, child('A'), interrupted({ sequence: 2, children: 1 })];
    session
      .given(begun)
      .when(complete)
      .then([cascadeCompleted('interrupt', 2)]);
    session
      .given([...begun, cascadeCompleted('interrupt', 2)])
      .when(complete)
      .thenNothing();
    session
      .given([...begun, cascadeCompleted('interrupt', 3)])
      .when(complete)
      .thenNothing();
  });

  it('runs from an intent with children until its own completion', () => {
    const running = (...events: Parameters<typeof session.given>[0][number][]): boolean[] => {
      const { cascades } = session.given([root, child('A'), ...events]).state;
      return [isRunning(cascades, 'interrupt'), isRunning(cascades, 'delete')];
    };
    const first = interrupted({ sequence: 1, children: 1 });
    const second = interrupted({ sequence: 2, children: 1 });
    expect(running()).toEqual([false, false]);
    expect(running(first)).toEqual([true, false]);
    expect(running(first, cascadeCompleted('interrupt'))).toEqual([false, false]);
    expect(running(first, second, cascadeCompleted('interrupt', 1))).toEqual([true, false]);
    expect(running(interrupted({ sequence: 1 }))).toEqual([false, false]);
    expect(running(interrupted({ sequence: 1, follows: after('P'), children: 1 }))).toEqual([false, false]);
    expect(running(deleted(1))).toEqual([false, true]);
    expect(running(deleted(1), cascadeCompleted('delete'))).toEqual([false, false]);
    expect(running(deleted(1, after('P')))).toEqual([false, false]);
  });
});
