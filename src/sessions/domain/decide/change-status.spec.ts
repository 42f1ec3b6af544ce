import { describe, expect, it } from '@jest/globals';
import { DeciderSpecification } from '../../../../test/support/specifications/decider-specification.js';
import {
  requested,
  spawned,
  spawnOf,
  statusChanged,
  withdrawn,
  closed,
} from '../../../../test/support/specifications/session-events.js';
import type { ReportedStatus } from '../events.js';
import { sessionAggregate } from '../../aggregate.js';
import { decideStatus, type StatusEdge } from './change-status.js';

const session = DeciderSpecification.for(sessionAggregate);
const born = spawned(spawnOf('R'));
const ask = (id: string, responseId: string | null = null): ReturnType<typeof requested> =>
  requested(id, { message: '?' }, responseId);
const edge = (status: ReportedStatus, stated: Partial<StatusEdge> = {}): StatusEdge => ({
  status,
  responseId: null,
  backgroundTaskCount: null,
  blockedOn: null,
  output: null,
  reauthRequired: false,
  ...stated,
});

describe('a status edge (contract/sessions.md 6.8, 6.10)', () => {
  it.each<ReportedStatus>(['running', 'waiting', 'idle', 'failed'])('%s is recorded as it came', (status) => {
    session
      .given([born])
      .when((state) => decideStatus(state, edge(status)))
      .then([statusChanged(status)], null);
  });

  it('is passed over on a closed session when it would make it busy', () => {
    const given = session.given([born, closed()]);
    given.when((state) => decideStatus(state, edge('running'))).thenNothing();
    given.when((state) => decideStatus(state, edge('waiting'))).thenNothing();
    given.when((state) => decideStatus(state, edge('failed'))).then([statusChanged('failed')]);
  });

  it('idle after a failure changes no status and still ends the prompts of its turn', () => {
    session
      .given([born, statusChanged('failed'), ask('E', 'r9'), ask('F', 'other')])
      .when((state) => decideStatus(state, edge('idle', { responseId: 'r9' })))
      .then([withdrawn('E', 'idle')]);
  });

  it('is not refused for the size of its output: it is cut, more so beside what ends with it', () => {
    const output = '\u0001'.repeat(1_000_000);
    const bytesOf = (given: Parameters<typeof session.given>[0]): number => {
      const { state } = session.given(given);
      const decision = decideStatus(state, edge('idle', { output, responseId: 'r' }));
      return 'events' in decision ? Buffer.byteLength(JSON.stringify(decision.events.at(-1))) : 0;
    };
    expect(bytesOf([born])).toBeLessThan(520 * 1024);
    expect(bytesOf([born])).toBeGreaterThan(400 * 1024);
    expect(bytesOf([born, ask('E', 'r')])).toBeLessThan(40 * 1024);
  });

  it('waiting with background work left is idle; with none it is waiting', () => {
    session
      .given([born])
      .when((state) => decideStatus(state, edge('waiting', { backgroundTaskCount: 2 })))
      .then([statusChanged('idle', { reported: 'waiting', background_task_count: 2 })]);
    session
      .given([born])
      .when((state) => decideStatus(state, edge('waiting', { backgroundTaskCount: 0 })))
      .then([statusChanged('waiting', { background_task_count: 0 })]);
  });

  it('failed stands against idle and collapsed waiting, until the session runs', () => {
    const failed = session.given([born, statusChanged('failed')]);
    failed.when((state) => decideStatus(state, edge('idle'))).thenNothing();
    failed.when((state) => decideStatus(state, edge('waiting', { backgroundTaskCount: 1 }))).thenNothing();
    failed.when((state) => decideStatus(state, edge('running'))).then([statusChanged('running')]);
    failed.when((state) => decideStatus(state, edge('waiting'))).then([statusChanged('waiting')]);
  });

  it('the message of an error ends at 8,192 code points; the event keeps the whole output', () => {
    const output = '🟡'.repeat(9_000);
    const error = { code: 'codex_turn_error', message: `${'🟡'.repeat(8_191)}…` };
    session
      .given([born])
      .when((state) => decideStatus(state, edge('failed', { output })))
      .then([statusChanged('failed', { output, error })]);
  });

  it('a failure keeps its output as the error, blank output as none', () => {
    const given = session.given([born]);
    given
      .when((state) => decideStatus(state, edge('failed', { output: 'boom' })))
      .then([
        statusChanged('failed', { output: 'boom', error: { code: 'codex_turn_error', message: 'boom' } }),
      ]);
    given
      .when((state) => decideStatus(state, edge('failed', { output: 'in', reauthRequired: true })))
      .then([
        statusChanged('failed', { output: 'in', error: { code: 'codex_reauth_required', message: 'in' } }),
      ]);
    given
      .when((state) => decideStatus(state, edge('failed', { output: ' \n' })))
      .then([statusChanged('failed', { output: ' \n' })]);
  });

  it('is refused without a session', () => {
    session
      .given([])
      .when((state) => decideStatus(state, edge('idle')))
      .thenRefused('not_found');
  });
});

describe('an edge that says nothing new is not recorded again', () => {
  const running = session.given([
    born,
    statusChanged('running', { response_id: 'r1', background_task_count: 1 }),
  ]);

  it.each<[string, Partial<StatusEdge>]>([
    ['the same status', {}],
    ['the same response', { responseId: 'r1' }],
    ['the same count', { backgroundTaskCount: 1 }],
  ])('%s', (_what, stated) => {
    running.when((state) => decideStatus(state, edge('running', stated))).thenNothing();
  });

  it.each<[string, Partial<StatusEdge>, Parameters<typeof statusChanged>[1]]>([
    ['another response', { responseId: 'r2' }, { response_id: 'r2' }],
    ['another count', { backgroundTaskCount: 2 }, { background_task_count: 2 }],
    ['an output', { output: 'x' }, { output: 'x' }],
    ['what it is blocked on', { blockedOn: 'C' }, { blocked_on: 'C' }],
  ])('%s is new', (_what, stated, data) => {
    running
      .when((state) => decideStatus(state, edge('running', stated)))
      .then([statusChanged('running', data)]);
  });

  it('an idle session has no response to compare', () => {
    session
      .given([born, statusChanged('idle', { response_id: 'r1' })])
      .when((state) => decideStatus(state, edge('idle', { responseId: 'r2' })))
      .thenNothing();
  });
});

describe('prompts that end with an edge (design 13.9)', () => {
  const asking = session.given([born, ask('E1', 'r1'), ask('E2', 'r2'), ask('E3')]);

  it('failed withdraws all of them, in the same append', () => {
    asking
      .when((state) => decideStatus(state, edge('failed')))
      .then([
        withdrawn('E1', 'failed'),
        withdrawn('E2', 'failed'),
        withdrawn('E3', 'failed'),
        statusChanged('failed'),
      ]);
  });

  it('idle withdraws those of its own response only', () => {
    asking
      .when((state) => decideStatus(state, edge('idle', { responseId: 'r1' })))
      .then([withdrawn('E1', 'idle'), statusChanged('idle', { response_id: 'r1' })]);
    asking.when((state) => decideStatus(state, edge('idle'))).then([statusChanged('idle')]);
  });

  it('an idle that waiting became withdraws none, for its turn may still wait for a human', () => {
    asking
      .when((state) => decideStatus(state, edge('waiting', { responseId: 'r1', backgroundTaskCount: 1 })))
      .then([statusChanged('idle', { reported: 'waiting', response_id: 'r1', background_task_count: 1 })]);
  });

  it('an idle that is no news still withdraws', () => {
    session
      .given([born, statusChanged('idle'), ask('E1', 'r1')])
      .when((state) => decideStatus(state, edge('idle', { responseId: 'r1' })))
      .then([withdrawn('E1', 'idle'), statusChanged('idle', { response_id: 'r1' })]);
  });
});
