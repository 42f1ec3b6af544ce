import type { ReportedStatus, TaskError } from './events.js';

/** `none` until the first status edge. */
export type SessionStatus = 'none' | ReportedStatus;
export type SnapshotStatus = 'idle' | 'running' | 'failed';
export type TaskStatus = 'in_progress' | 'completed' | 'failed';

/** The one place that says what a raw status reads as on each surface (`api.md` 2, `contract/sessions.md` 4.4). */
export function isBusy(status: SessionStatus): boolean {
  return status === 'running' || status === 'waiting';
}

export function taskStatusOf(status: SessionStatus, error: TaskError | null): TaskStatus | null {
  if (error !== null) return 'failed';
  switch (status) {
    case 'none':
      return null;
    case 'running':
    case 'waiting':
      return 'in_progress';
    case 'idle':
      return 'completed';
    case 'failed':
      return 'failed';
  }
}

export function snapshotStatusOf(status: SessionStatus): SnapshotStatus {
  if (status === 'failed') return 'failed';
  return isBusy(status) ? 'running' : 'idle';
}

/** A list row also lights up for anything busy below it, at any depth. */
export function listStatusOf(status: SessionStatus, busyDescendants: number): SnapshotStatus {
  return busyDescendants > 0 ? 'running' : snapshotStatusOf(status);
}
