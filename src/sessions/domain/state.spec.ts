import { describe, expect, it } from '@jest/globals';
import { DeciderSpecification } from '../../../test/support/specifications/decider-specification.js';
import {
  childReleased,
  childRenamed,
  childSpawned,
  childSpawnOf,
  requested,
  resolved,
  spawned,
  spawnOf,
} from '../../../test/support/specifications/session-events.js';
import { sessionAggregate } from '../aggregate.js';

const session = DeciderSpecification.for(sessionAggregate);
const child = (id: string, title: string | null): ReturnType<typeof childSpawned> =>
  childSpawned(childSpawnOf(id, ['R'], { title }));

const open = (name: string | null, renames = 0): object => ({ name, renames });

function namesAfter(...events: Parameters<typeof session.given>[0][number][]): object {
  const { byName, byChild } = session.given([spawned(spawnOf('R')), ...events]).state.children;
  return { byName: byName.toObject(), byChild: byChild.toObject() };
}

describe('the names that open children hold', () => {
  it('are taken by a spawn; a child without a title holds none', () => {
    expect(namesAfter(child('A', 'a'), child('B', null), child('C', ''))).toEqual({
      byName: { a: 'A' },
      byChild: { A: open('a'), B: open(null), C: open(null) },
    });
  });

  it('move with a rename and end with a release', () => {
    expect(namesAfter(child('A', 'a'), childRenamed('A', 'b'))).toEqual({
      byName: { b: 'A' },
      byChild: { A: open('b', 1) },
    });
    expect(namesAfter(child('A', 'a'), childRenamed('A', null))).toEqual({
      byName: {},
      byChild: { A: open(null, 1) },
    });
    expect(namesAfter(child('A', 'a'), childReleased('A'), childReleased('A'))).toEqual({
      byName: {},
      byChild: {},
    });
  });

  it('stay with a new holder when the old one is released late', () => {
    const handed = [child('A', 'a'), childReleased('A'), child('B', 'a'), childReleased('A')];
    expect(namesAfter(...handed)).toEqual({ byName: { a: 'B' }, byChild: { B: open('a') } });
  });
});

it('a session knows its lineage from its spawn on, and its prompts', () => {
  const { state } = session.given([
    spawned(childSpawnOf('C', ['R', 'P'])),
    requested('E'),
    resolved('E', 'accept'),
  ]);
  expect(sessionAggregate.lineageOf(state)).toEqual({ root_id: 'R', ancestor_ids: ['R', 'P'] });
  expect(sessionAggregate.lineageOf(session.given([]).state)).toBeNull();
  expect(state.prompts.settled.toObject()).toEqual({ E: 'answered' });
});
