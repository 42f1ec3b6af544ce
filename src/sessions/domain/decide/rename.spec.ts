import { describe, it } from '@jest/globals';
import { DeciderSpecification } from '../../../../test/support/specifications/decider-specification.js';
import {
  childReleased,
  childRenamed,
  childSpawned,
  childSpawnOf,
  labelled,
  renamed,
  spawned,
  spawnOf,
} from '../../../../test/support/specifications/session-events.js';
import { sessionAggregate } from '../../aggregate.js';
import { decidePatch, decideRenameChild } from './rename.js';

const session = DeciderSpecification.for(sessionAggregate);

describe('a patch', () => {
  const given = session.given([spawned(spawnOf('R', { title: 'old', labels: { a: '1', b: '1' } }))]);

  it('says what is new and nothing else', () => {
    given
      .when((state) => decidePatch(state, { title: 'new', labels: { a: '1', b: '2', c: '' } }))
      .then([renamed('new'), labelled({ b: '2', c: '' })]);
    given.when((state) => decidePatch(state, { title: 'old', labels: { a: '1' } })).thenNothing();
    given.when((state) => decidePatch(state, {})).thenNothing();
  });

  it('carries out what the parent granted, and passes over what was overtaken', () => {
    const overtaken = session.given([spawned(spawnOf('R')), renamed('second', 2)]);
    overtaken.when((state) => decidePatch(state, { title: 'first', sequence: 1 })).thenNothing();
    overtaken
      .when((state) => decidePatch(state, { title: 'second', sequence: 3 }))
      .then([renamed('second', 3)]);
  });

  it('may take the title away', () => {
    given.when((state) => decidePatch(state, { title: null })).then([renamed(null)]);
  });

  it('is refused without a session', () => {
    session
      .given([])
      .when((state) => decidePatch(state, { title: 'x' }))
      .thenRefused('not_found');
  });
});

describe('a new name for a child, on its parent', () => {
  const given = session.given([
    spawned(spawnOf('R')),
    childSpawned(childSpawnOf('A', ['R'], { title: 'a' })),
    childSpawned(childSpawnOf('B', ['R'], { title: 'b' })),
    childSpawned(childSpawnOf('N', ['R'])),
  ]);

  it('is granted when it is free', () => {
    given.when((state) => decideRenameChild(state, 'A', 'c', null)).then([childRenamed('A', 'c')]);
    given.when((state) => decideRenameChild(state, 'N', 'c', null)).then([childRenamed('N', 'c')]);
  });

  it('is told to be taken by its holder', () => {
    given.when((state) => decideRenameChild(state, 'A', 'b', null)).thenNothing({ nameTakenBy: 'B' });
  });

  it('goes over from a holder that was seen closed', () => {
    given
      .when((state) => decideRenameChild(state, 'A', 'b', 'B'))
      .then([childReleased('B'), childRenamed('A', 'b')]);
  });

  it('may be the one that the child holds, and frees it when there is none', () => {
    given.when((state) => decideRenameChild(state, 'A', 'a', null)).then([childRenamed('A', 'a')]);
    given.when((state) => decideRenameChild(state, 'N', '', null)).then([childRenamed('N', '')]);
    given.when((state) => decideRenameChild(state, 'A', null, null)).then([childRenamed('A', null)]);
  });

  it('is counted for each child', () => {
    session
      .given([
        spawned(spawnOf('R')),
        childSpawned(childSpawnOf('A', ['R'], { title: 'a' })),
        childRenamed('A', 'b'),
      ])
      .when((state) => decideRenameChild(state, 'A', 'c', null))
      .then([childRenamed('A', 'c', 2)]);
  });

  it('is not asked for by a child that is gone or closed', () => {
    given.when((state) => decideRenameChild(state, 'X', 'c', null)).thenNothing({ sequence: null });
  });
});
