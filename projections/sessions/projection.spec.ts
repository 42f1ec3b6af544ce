import { describe, expect, it } from '@jest/globals';
import { ProjectionSpecification } from '../../test/support/specifications/projection-specification.js';
import { on, positionOf, recorded, timeOf } from '../../test/support/specifications/recorded-events.js';
import {
  childSpawned,
  childSpawnOf,
  closed,
  labelled,
  message,
  renamed,
  requested,
  spawned,
  spawnOf,
  statusChanged,
} from '../../test/support/specifications/session-events.js';
import { sessionsProjection } from './projection.js';
import { factsOf, rowOf } from './row.js';

const sessions = ProjectionSpecification.for(sessionsProjection);

describe('the row of a session', () => {
  it('is there from its spawn on, whole', () => {
    sessions
      .given([
        on(
          'R',
          spawned(
            spawnOf('R', {
              owner: 'ann',
              agent_id: 'ag_1',
              agent_name: 'coder',
              title: 't',
              labels: { a: '1' },
            }),
          ),
        ),
      ])
      .thenOnly({
        id: 'R',
        parent_id: null,
        root_id: 'R',
        ancestor_ids: [],
        owner: 'ann',
        agent_id: 'ag_1',
        agent_name: 'coder',
        title: 't',
        renames: 0,
        stated_tool: null,
        stated_session_name: null,
        labels: { a: '1' },
        status: 'none',
        active_response_id: null,
        background_task_count: null,
        last_task_error: null,
        closed: null,
        successor_id: null,
        created_at: timeOf(1),
        updated_at: timeOf(1),
        created_position: positionOf(1),
        activity_position: positionOf(1),
        position: positionOf(1),
      });
  });

  it('follows every event of its own stream', () => {
    sessions
      .given([
        on('R', spawned(spawnOf('R'))),
        on('R', renamed('t')),
        on('R', labelled({ a: '1' })),
        on('R', statusChanged('running', { response_id: 'r' })),
        on('R', message('i', 'user', 'hi')),
        on('R', requested('E')),
        on('R', closed('cancelled')),
      ])
      .then([
        {
          title: 't',
          labels: { a: '1' },
          status: 'idle',
          active_response_id: null,
          closed: 'cancelled',
          position: positionOf(7),
          updated_at: timeOf(7),
          created_position: positionOf(1),
          activity_position: positionOf(7),
        },
      ]);
  });

  it('is not busy once it is closed, and a failure stands', () => {
    sessions
      .given([on('R', spawned(spawnOf('R'))), on('R', statusChanged('waiting')), on('R', closed())])
      .then([{ status: 'idle' }]);
    sessions
      .given([on('R', spawned(spawnOf('R'))), on('R', statusChanged('failed')), on('R', closed())])
      .then([{ status: 'failed' }]);
  });

  it('of a child waits for its birth: the word of its parent is not enough', () => {
    sessions
      .given([on('R', spawned(spawnOf('R'))), on('R', childSpawned(childSpawnOf('C', ['R'])))])
      .then([{ id: 'R', position: positionOf(2), activity_position: positionOf(1), updated_at: timeOf(1) }]);
  });

  it('F125: keeps the newest title and what an event does not mention, when an older event comes again', () => {
    const log = recorded([
      on('R', spawned(spawnOf('R', { title: 'A', labels: { a: '1' } }))),
      on('R', renamed('old')),
      on('R', renamed('new')),
      on('R', statusChanged('running')),
    ]);
    const older = log.slice(1, 2);
    sessions.givenLog([...log, ...older]).then([
      {
        title: 'new',
        labels: { a: '1' },
        status: 'running',
        created_at: timeOf(1),
        created_position: positionOf(1),
        position: positionOf(4),
      },
    ]);
  });

  it('is not made by what comes before its spawn', () => {
    sessions.given([on('R', statusChanged('running')), on('R', renamed('x'))]).thenNothing();
  });
});

it('row and facts say the same', () => {
  const [row] = sessions.given([
    on('C', spawned(childSpawnOf('C', ['R'], { tool: 'x', session_name: 'y' })), ['R']),
  ]).rows;
  expect(row && rowOf(factsOf(row))).toEqual(row);
});
