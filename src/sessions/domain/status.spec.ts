import { describe, expect, it } from '@jest/globals';
import {
  isBusy,
  listStatusOf,
  snapshotStatusOf,
  taskStatusOf,
  type SessionStatus,
  type SnapshotStatus,
  type TaskStatus,
} from './status.js';

const error = { code: 'c', message: 'm' };

describe('one status on every surface (api.md 2, contract/sessions.md 4.4)', () => {
  it.each<[SessionStatus, boolean, TaskStatus | null, SnapshotStatus]>([
    ['none', false, null, 'idle'],
    ['running', true, 'in_progress', 'running'],
    ['waiting', true, 'in_progress', 'running'],
    ['idle', false, 'completed', 'idle'],
    ['failed', false, 'failed', 'failed'],
  ])('%s: busy %j, task %j, snapshot %j', (status, busy, task, snapshot) => {
    expect(isBusy(status)).toBe(busy);
    expect(taskStatusOf(status, null)).toBe(task);
    expect(snapshotStatusOf(status)).toBe(snapshot);
    expect(listStatusOf(status, 0)).toBe(snapshot);
  });

  it.each<SessionStatus>(['none', 'running', 'waiting', 'idle', 'failed'])(
    'a standing error makes the task failed and a busy descendant the list row running, whatever %s says',
    (status) => {
      expect(taskStatusOf(status, error)).toBe('failed');
      expect(listStatusOf(status, 1)).toBe('running');
    },
  );
});
