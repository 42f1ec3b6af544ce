import { describe, expect, it } from '@jest/globals';
import { ProjectionSpecification } from '../../test/support/specifications/projection-specification.js';
import { on, positionOf, recorded } from '../../test/support/specifications/recorded-events.js';
import {
  childSpawnOf,
  deleted,
  interrupted,
  itemAppended,
  message,
  renamed,
  spawned,
  spawnOf,
  statusChanged,
} from '../../test/support/specifications/session-events.js';
import type { RollcallEvent } from '../../src/event-store/catalogue.js';
import type { Happening } from '../../test/support/specifications/recorded-events.js';
import type { SessionSpawn } from '../../src/sessions/domain/events.js';
import { childSessionSummaryProjection } from './projection.js';

const summaries = ProjectionSpecification.for(childSessionSummaryProjection);
const onChild = (event: RollcallEvent): Happening => on('C', event, ['R']);
const born = (stated: Partial<SessionSpawn> = {}): Happening =>
  onChild(spawned(childSpawnOf('C', ['R'], stated)));

describe('the summary of a child (contract/sessions.md 4.2)', () => {
  it('shows a child that has done nothing yet', () => {
    summaries.given([born({ title: 'researcher:auth' })]).then([
      {
        id: 'C',
        parent_id: 'R',
        title: 'researcher:auth',
        tool: 'researcher',
        session_name: 'auth',
        busy: false,
        current_task_status: null,
        last_task_error: null,
        last_message_preview: null,
        position: positionOf(1),
      },
    ]);
  });

  it('shows a stated tool before what the title says, and follows a rename', () => {
    summaries
      .given([born({ title: 'deploy: prod', tool: 'writer' })])
      .then([{ tool: 'writer', session_name: 'deploy: prod' }]);
    summaries
      .given([born({ title: 'a:b' }), onChild(renamed('ui:codex:x:y'))])
      .then([{ title: 'ui:codex:x:y', tool: 'codex', session_name: 'x:y' }]);
  });

  it.each([
    ['running', true, 'in_progress'],
    ['waiting', true, 'in_progress'],
    ['idle', false, 'completed'],
    ['failed', false, 'failed'],
  ] as const)('of a %s child: busy %s, task %s', (status, busy, task) => {
    summaries.given([born(), onChild(statusChanged(status))]).then([{ busy, current_task_status: task }]);
  });

  it('of an interrupted or deleted child is not busy; a deleted one keeps its row', () => {
    const running = [born({ title: 'a:b' }), onChild(statusChanged('running'))];
    summaries
      .given([...running, onChild(interrupted())])
      .then([{ busy: false, current_task_status: 'completed', deleted: false }]);
    summaries
      .given([...running, onChild(deleted())])
      .then([{ busy: false, deleted: true, title: 'a:b', position: positionOf(3) }]);
  });

  it('shows a failure that labels state, whatever the status', () => {
    const labels = { 'omnigent.last_task_error_code': 'c', 'omnigent.last_task_error_message': 'm' };
    summaries
      .given([born({ labels })])
      .then([{ busy: false, current_task_status: 'failed', last_task_error: { code: 'c', message: 'm' } }]);
  });

  it('has no row for roots, whose events cost nothing here', () => {
    const events = [on('R', spawned(spawnOf('R'))), on('R', message('i', 'user', 'hi'))];
    summaries.given(events).thenNothing();
    expect(recorded(events).flatMap((event) => childSessionSummaryProjection.keysOf(event))).toEqual([]);
  });
});

describe('the preview of a child', () => {
  it('follows the newest visible text (F003)', () => {
    const story = [
      born(),
      onChild(message('1', 'user', 'kick-off')),
      onChild(message('2', 'assistant', 'step 1')),
      onChild(itemAppended('3', 'function_call_output', { call_id: 'c', output: 'blob' })),
      onChild(message('4', 'assistant', 'final words')),
    ];
    const shown = [2, 3, 4, 5].map(
      (length) => summaries.given(story.slice(0, length)).rows[0]?.last_message_preview,
    );
    expect(shown).toEqual(['kick-off', 'step 1', 'step 1', 'final words']);
  });

  it('stays through messages that show nothing, however many they are (F004)', () => {
    const silent = Array.from({ length: 20 }, (_, index) => onChild(message(`s${index}`, 'user', ' \n ')));
    summaries
      .given([
        born(),
        onChild(message('1', 'user', 'line one\nline two')),
        ...silent,
        onChild(message('m', 'user', 'hidden', { is_meta: true })),
        onChild(message('n', 'assistant', '', { content: [{ type: 'input_image' }] })),
        onChild(statusChanged('running')),
      ])
      .then([{ last_message_preview: 'line one line two', busy: true }]);
  });
});
