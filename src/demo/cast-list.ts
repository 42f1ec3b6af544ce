import type { ReplayedEvent } from '../event-store/recording.js';
import { handleOf, type TitleSources } from '../sessions/domain/title.js';

/** What a person calls each session of the recording. */
export class CastList {
  private readonly names = new Map<string, string>();

  notice({ event, subjectId }: ReplayedEvent): void {
    if (event.type === 'SessionSpawned') {
      const {
        agent_name: agent,
        parent_session_id: parent,
        session_name: sessionName,
        ...spawn
      } = event.data;
      const name = nameIn({ title: spawn.title, tool: spawn.tool, sessionName });
      this.names.set(subjectId, parent === null ? (agent ?? 'the session') : name);
    } else if (event.type === 'ChildRenamed') {
      const sources = { title: event.data.title, tool: null, sessionName: null };
      this.names.set(event.data.child_id, nameIn(sources));
    }
  }

  nameOf(sessionId: string): string {
    return this.names.get(sessionId) ?? sessionId;
  }
}

function nameIn(sources: TitleSources): string {
  const { tool, sessionName } = handleOf(sources);
  return [tool, sessionName].filter((part) => part !== null && part !== '').join('/') || 'untitled';
}
