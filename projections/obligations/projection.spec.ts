import { describe, it } from '@jest/globals';
import { ProjectionSpecification } from '../../test/support/specifications/projection-specification.js';
import {
  on,
  positionOf,
  recorded,
  timeOf,
  type Happening,
} from '../../test/support/specifications/recorded-events.js';
import {
  after,
  cascadeCompleted,
  childReleased,
  childRenamed,
  childSpawned,
  childSpawnOf,
  closed,
  deleted,
  interrupted,
  renamed,
  spawned,
  spawnOf,
} from '../../test/support/specifications/session-events.js';
import type { RollcallEvent } from '../../src/event-store/catalogue.js';
import { obligationsProjection } from './projection.js';

const owed = ProjectionSpecification.for(obligationsProjection);
const spawn = childSpawnOf('C', ['R'], { title: 'a' });
const onC = (event: RollcallEvent): Happening => on('C', event, ['R']);

describe('what one stream owes to another (design 4)', () => {
  it('is the birth of a spawned child', () => {
    owed.given([on('R', childSpawned(spawn))]).then([
      {
        kind: 'birth',
        child_id: 'C',
        parent_id: 'R',
        cause_id: 'event-1',
        correlation_id: 'request-1',
        payload: spawn,
        met: false,
        owed_at: timeOf(1),
        met_sequence: null,
        owed_position: positionOf(1),
        met_position: null,
        position: positionOf(1),
      },
    ]);
  });

  it('is the new title of a renamed child, the newest of several', () => {
    owed
      .given([on('R', childRenamed('C', 'b')), on('R', childRenamed('C', null, 2))])
      .then([{ kind: 'rename', payload: { title: null, sequence: 2 }, cause_id: 'event-2' }]);
  });

  it('is the name of a closed child; a root owes none', () => {
    owed.given([onC(closed())]).then([{ kind: 'release', child_id: 'C', parent_id: 'R', payload: {} }]);
    owed.given([on('R', closed())]).thenNothing();
  });

  it.each<[string, Happening, Happening, Readonly<Record<string, unknown>>]>([
    ['a birth', on('R', childSpawned(spawn)), onC(spawned(spawn)), {}],
    ['a rename', on('R', childRenamed('C', 'b')), onC(renamed('b', 1)), { sequence: 1 }],
    ['a release', onC(closed()), on('R', childReleased('C')), {}],
  ])('ends when it is met: %s', (_what, cause, met, payload) => {
    owed.given([cause, met]).then([{ met: true, payload, position: positionOf(2) }]);
  });

  it('is not owed again when its cause comes again, even at a later position', () => {
    const cause = recorded([on('R', childSpawned(spawn)), onC(spawned(spawn))]);
    const again = cause.map((event) => ({ ...event, position: event.position + 100n }));
    owed.givenLog([...cause, ...again]).then([{ kind: 'birth', met: true }]);
  });

  it('of a rename is not met by an older one, nor owed again by one that was overtaken', () => {
    owed
      .given([on('R', childRenamed('C', 'c', 2)), onC(renamed('b', 1))])
      .then([{ kind: 'rename', met: false }]);
    owed
      .given([on('R', childRenamed('C', 'c', 2)), onC(renamed('c', 2)), on('R', childRenamed('C', 'b', 1))])
      .then([{ kind: 'rename', met: true, payload: { sequence: 2 } }]);
  });

  it('is owed anew after a further rename', () => {
    owed
      .given([on('R', childRenamed('C', 'b')), onC(renamed('b', 1)), on('R', childRenamed('C', 'c', 2))])
      .then([{ kind: 'rename', met: false, payload: { title: 'c', sequence: 2 }, cause_id: 'event-3' }]);
  });

  it('of one kind is not met by another', () => {
    owed
      .given([
        on('R', childSpawned(spawn)),
        on('R', childRenamed('C', 'b')),
        onC(closed()),
        onC(spawned(spawn)),
      ])
      .then([
        { kind: 'birth', met: true },
        { kind: 'release', met: false },
        { kind: 'rename', met: false },
      ]);
  });

  it.each<[string, Happening, Happening]>([
    ['a birth', on('R', childSpawned(spawn)), onC(spawned(spawn))],
    ['a rename', on('R', childRenamed('C', 'b')), onC(renamed('b', 1))],
    ['a release', onC(closed()), on('R', childReleased('C'))],
  ])('is met by what came before its cause: %s', (_what, cause, met) => {
    const [owing, meeting] = recorded([cause, met]);
    const late = [meeting, owing].flatMap((event) => event ?? []);
    owed.givenLog(late).then([...owed.given([cause, met]).rows]);
  });

  it('of a rename is owed when only an older one came before its cause', () => {
    const [first, second] = [renamed('b', 1), childRenamed('C', 'c', 2)];
    owed.given([onC(first), on('R', second)]).then([
      {
        kind: 'rename',
        met: false,
        met_sequence: 1,
        payload: { title: 'c', sequence: 2 },
        cause_id: 'event-2',
      },
    ]);
  });

  it('has nothing to do with roots', () => {
    owed.given([on('R', spawned(spawnOf('R'))), on('R', renamed('x'))]).thenNothing();
  });

  it('is the name of a deleted child, unless it is gone with its parent', () => {
    owed.given([onC(deleted())]).then([{ kind: 'release', child_id: 'C', parent_id: 'R', met: false }]);
    owed.given([onC(deleted(0, after('R')))]).thenNothing();
    owed.given([on('R', deleted())]).thenNothing();
  });

  it('is owed once of a child that is closed and then deleted', () => {
    owed
      .given([onC(closed()), on('R', childReleased('C')), onC(deleted())])
      .then([{ kind: 'release', met: true, cause_id: 'event-1' }]);
  });
});

describe('what an intent owes to everything below it (design 4, cascade)', () => {
  it('is owed by the intent alone, and only where there are children', () => {
    owed
      .given([on('R', interrupted({ requested: 'stop', children: 2 }))])
      .then([
        { kind: 'interrupt', child_id: 'R', parent_id: null, payload: { sequence: 1, requested: 'stop' } },
      ]);
    owed.given([onC(deleted(1))]).then([
      { kind: 'delete', child_id: 'C', parent_id: 'R', payload: { sequence: 1 }, met: false },
      { kind: 'release', child_id: 'C' },
    ]);
    owed
      .given([on('R', interrupted()), onC(interrupted({ follows: after('R'), children: 1 }))])
      .thenNothing();
  });

  it('ends when everything below has been reached', () => {
    owed
      .given([on('R', deleted(1)), on('R', cascadeCompleted('delete'))])
      .then([{ kind: 'delete', met: true, payload: { sequence: 1 } }]);
    owed.given([on('R', interrupted({ children: 1 })), on('R', cascadeCompleted('delete'))]).then([
      { kind: 'delete', met: true },
      { kind: 'interrupt', met: false },
    ]);
  });

  it('of a newer interrupt is not met by the end of an older one', () => {
    const [first, second] = [1, 2].map((sequence) => on('R', interrupted({ sequence, children: 1 })));
    if (!first || !second) throw new Error('two');
    owed
      .given([first, second, on('R', cascadeCompleted('interrupt', 1))])
      .then([{ kind: 'interrupt', met: false, payload: { sequence: 2 }, cause_id: 'event-2' }]);
    owed
      .given([first, second, on('R', cascadeCompleted('interrupt', 2))])
      .then([{ kind: 'interrupt', met: true, payload: { sequence: 2 } }]);
  });

  it.each([
    ['interrupt', interrupted({ children: 1 })],
    ['delete', deleted(1)],
  ] as const)('is not owed after it was met, should the %s be projected after its end', (kind, intent) => {
    const [owing, meeting] = recorded([on('R', intent), on('R', cascadeCompleted(kind))]);
    if (!owing || !meeting) throw new Error('two');
    const late = { ...owing, position: meeting.position + 1n };
    owed.givenLog([meeting, late]).then([{ kind, met: true, payload: { sequence: 1 } }]);
  });
});
