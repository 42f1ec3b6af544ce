import type { ReplayedEvent } from '../event-store/recording.js';
import type { CastList } from './cast-list.js';

const VERDICTS = { accept: 'is allowed to', decline: 'is told no', cancel: 'is left without an answer' };

/** What a person watching would want to be told, in a line; null for everything else. */
export function narrate({ event, subjectId }: ReplayedEvent, cast: CastList): string | null {
  const who = cast.nameOf(subjectId);
  switch (event.type) {
    case 'SessionSpawned': {
      const parent = event.data.parent_session_id;
      return parent === null ? `${who} begins` : `${cast.nameOf(parent)} spawns ${who}`;
    }
    case 'ElicitationRequested':
      return `${who} asks: ${messageIn(event.data.params)}`;
    case 'ElicitationResolved':
      return `${who} ${VERDICTS[event.data.action]}`;
    case 'ElicitationWithdrawn':
      if (event.data.reason === 'answered_elsewhere') return `${who} is answered in its own terminal`;
      return `${who} takes its question back`;
    case 'SessionStatusChanged':
      return event.data.status === 'failed'
        ? `${who} fails: ${event.data.output ?? 'no reason given'}`
        : null;
    case 'SessionClosed':
      return `${who} is closed (${event.data.reason})`;
    default:
      return null;
  }
}

function messageIn(params: object): string {
  const { message } = params as { readonly message?: unknown };
  return typeof message === 'string' ? message : 'something';
}
