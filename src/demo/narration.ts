import type { ReplayedEvent } from '../event-store/recording.js';
import type { SessionSpawn } from '../sessions/domain/events.js';
import { type CastList, nameInTitle, nameOfSpawn } from './cast-list.js';

const VERDICTS = { accept: 'gets a yes', decline: 'gets a no', cancel: 'gets no answer' };
/** Titles of agents that a person adds begin with it (`contract/sessions.md` 2.3). */
const ADDED_BY_A_PERSON = 'ui:';

/** What a person watching would want to be told, in a line; null for everything else. */
export function narrate({ event, subjectId }: ReplayedEvent, cast: CastList): string | null {
  const who = cast.nameOf(subjectId);
  switch (event.type) {
    case 'SessionSpawned':
      return spawnLine(event.data, cast);
    case 'ChildRenamed':
      return `${cast.nameOf(event.data.child_id)} is now called ${nameInTitle(event.data.title)}`;
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

function spawnLine(spawn: SessionSpawn, cast: CastList): string {
  const [name, parent] = [nameOfSpawn(spawn), spawn.parent_session_id];
  if (parent === null) return `${name} begins`;
  if (spawn.title?.startsWith(ADDED_BY_A_PERSON)) return `a person adds ${name} below ${cast.nameOf(parent)}`;
  return `${cast.nameOf(parent)} spawns ${name}`;
}

function messageIn(params: object): string {
  const { message } = params as { readonly message?: unknown };
  return typeof message === 'string' ? message : 'something';
}
