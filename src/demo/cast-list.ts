import type { ReplayedEvent } from '../event-store/recording.js';
import type { SessionSpawn } from '../sessions/domain/events.js';
import { handleOf, type TitleSources } from '../sessions/domain/title.js';

/** What a person calls each session of the recording, as far as it has been played. */
export class CastList {
  private readonly names = new Map<string, string>();

  notice({ event, subjectId }: ReplayedEvent): void {
    if (event.type === 'SessionSpawned') this.names.set(subjectId, nameOfSpawn(event.data));
    if (event.type === 'ChildRenamed') this.names.set(event.data.child_id, nameInTitle(event.data.title));
  }

  nameOf(sessionId: string): string {
    return this.names.get(sessionId) ?? sessionId;
  }
}

export function nameOfSpawn(spawn: SessionSpawn): string {
  if (spawn.parent_session_id === null) return spawn.agent_name ?? 'the session';
  return nameIn({ title: spawn.title, tool: spawn.tool, sessionName: spawn.session_name });
}

export function nameInTitle(title: string | null): string {
  return nameIn({ title, tool: null, sessionName: null });
}

function nameIn(sources: TitleSources): string {
  const { tool, sessionName } = handleOf(sources);
  return [tool, sessionName].filter((part) => part !== null && part !== '').join('/') || 'untitled';
}
