import { describe, expect, it } from '@jest/globals';
import {
  childReleased,
  childSpawned,
  childSpawnOf,
  closed,
  deleted,
  interrupted,
  labelled,
  message,
  renamed,
  requested,
  spawned,
  spawnOf,
  statusChanged,
} from '../../../test/support/specifications/session-events.js';
import { foldFacts, type SessionFacts, type SessionStreamEvent } from './facts.js';

const failure = {
  'omnigent.last_task_error_code': 'lost',
  'omnigent.last_task_error_message': 'The runner is gone.',
};

/** Events lie on positions 1, 2, 3, …, a second apart. */
function factsAfter(...events: SessionStreamEvent[]): SessionFacts | null {
  return events.reduce<SessionFacts | null>(
    (facts, event, index) =>
      foldFacts(facts, event, { position: BigInt(index + 1), recordedAt: (index + 1) * 1_000 }),
    null,
  );
}

describe('the facts of a session', () => {
  it('begin with its spawn, and nothing before it counts', () => {
    expect(factsAfter(renamed('x'), statusChanged('running'))).toBeNull();
    expect(factsAfter(spawned(childSpawnOf('C', ['R', 'P'], { title: 'a:b', owner: 'ann' })))).toEqual({
      id: 'C',
      parentId: 'P',
      rootId: 'R',
      ancestorIds: ['R', 'P'],
      owner: 'ann',
      agentId: null,
      agentName: null,
      title: 'a:b',
      renames: 0,
      tool: null,
      sessionName: null,
      labels: {},
      status: 'none',
      activeResponseId: null,
      backgroundTaskCount: null,
      lastTaskError: null,
      closed: null,
      successorId: null,
      deleted: false,
      createdAt: 1_000,
      updatedAt: 1_000,
      createdPosition: 1n,
      activityPosition: 1n,
      position: 1n,
    });
  });

  it('stand when the spawn comes again', () => {
    const again = factsAfter(
      spawned(spawnOf('R', { title: 'first' })),
      spawned(spawnOf('R', { title: 'second' })),
    );
    expect(again).toMatchObject({ title: 'first', createdPosition: 1n });
  });

  it('follow title, labels, close and the newest event', () => {
    const facts = factsAfter(
      spawned(spawnOf('R', { labels: { a: '1' } })),
      renamed('new'),
      labelled({ b: '2' }),
      message('i1', 'user', 'hi'),
      closed('compacted', 'S'),
    );
    expect(facts).toMatchObject({
      title: 'new',
      labels: { a: '1', b: '2' },
      closed: 'compacted',
      successorId: 'S',
      position: 5n,
      updatedAt: 5_000,
      createdAt: 1_000,
    });
  });

  it('count the book-keeping of children as no activity of their parent', () => {
    const facts = factsAfter(
      spawned(spawnOf('R')),
      childSpawned(childSpawnOf('C', ['R'])),
      childReleased('C'),
    );
    expect(facts).toMatchObject({ position: 3n, activityPosition: 1n, updatedAt: 1_000 });
    expect(factsAfter(spawned(spawnOf('R')), requested('E'))).toMatchObject({
      activityPosition: 2n,
      updatedAt: 2_000,
    });
  });

  it('never step back in time when the clock of the log does', () => {
    const born = factsAfter(spawned(spawnOf('R')));
    expect(foldFacts(born, renamed('x'), { position: 2n, recordedAt: 400 })).toMatchObject({
      updatedAt: 1_000,
    });
  });
});

describe('the status of a session', () => {
  it.each([
    ['an interrupt', interrupted(), {}],
    ['its deletion', deleted(), { deleted: true }],
  ])('is idle after %s ended a turn, and a failure stands', (_what, end, more) => {
    const born = spawned(spawnOf('R'));
    const busy = [born, statusChanged('waiting', { response_id: 'r1', background_task_count: 2 })];
    expect(factsAfter(...busy, end)).toMatchObject({
      status: 'idle',
      activeResponseId: null,
      backgroundTaskCount: 2,
      activityPosition: 3n,
      ...more,
    });
    expect(factsAfter(born, end)).toMatchObject({ status: 'none', ...more });
    expect(factsAfter(born, statusChanged('failed'), end)).toMatchObject({ status: 'failed', ...more });
  });

  it('keeps the active response while it is busy and forgets it afterwards', () => {
    const busy = [
      spawned(spawnOf('R')),
      statusChanged('running', { response_id: 'r1' }),
      statusChanged('waiting'),
    ];
    expect(factsAfter(...busy)).toMatchObject({ status: 'waiting', activeResponseId: 'r1' });
    expect(factsAfter(...busy, statusChanged('idle'))).toMatchObject({
      status: 'idle',
      activeResponseId: null,
    });
  });

  it('keeps the background count until 0 or failed clears it (contract/sessions.md 6.10)', () => {
    const counted = [spawned(spawnOf('R')), statusChanged('idle', { background_task_count: 2 })];
    expect(factsAfter(...counted, statusChanged('running'))).toMatchObject({ backgroundTaskCount: 2 });
    expect(
      factsAfter(...counted, statusChanged('idle', { background_task_count: 0 }))?.backgroundTaskCount,
    ).toBeNull();
    expect(factsAfter(...counted, statusChanged('failed'))?.backgroundTaskCount).toBeNull();
  });

  it('keeps the last error until the session runs again, and takes the labels with it', () => {
    const failed = [
      spawned(spawnOf('R', { labels: { ...failure, kept: '1' } })),
      statusChanged('failed', { error: { code: 'c', message: 'm' } }),
    ];
    expect(factsAfter(failed[0] ?? closed())?.lastTaskError).toEqual({
      code: 'lost',
      message: 'The runner is gone.',
    });
    expect(factsAfter(...failed)).toMatchObject({ lastTaskError: { code: 'c', message: 'm' } });
    expect(factsAfter(...failed, statusChanged('running'))).toMatchObject({
      lastTaskError: null,
      labels: { kept: '1' },
    });
  });

  it('reads an error that labels state, and its clearing by empty ones', () => {
    const stated = [spawned(spawnOf('R')), labelled(failure)];
    expect(factsAfter(...stated)?.lastTaskError).toEqual({ code: 'lost', message: 'The runner is gone.' });
    const cleared = factsAfter(...stated, labelled({ 'omnigent.last_task_error_code': '' }));
    expect(cleared?.lastTaskError).toBeNull();
    expect(cleared?.labels).toMatchObject({ 'omnigent.last_task_error_code': '' });
  });
});
