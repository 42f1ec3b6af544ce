import type { EventLog } from '../../src/event-store/event-log.js';
import type { RawEvent } from '../../src/event-store/recorded-event.js';
import type { StreamNames } from '../../src/event-store/stream-names.js';

/** Every event of a session, of all below it and of the agents that they run, in log order. */
export async function treeEvents(log: EventLog, names: StreamNames, rootId: string): Promise<RawEvent[]> {
  const found: RawEvent[] = [];
  const agents = new Set<string>();
  const sessions = [rootId];
  for (const id of sessions) {
    for await (const event of log.read(names.session(id))) {
      found.push(event);
      const { child_id: child, agent_id: agent } = event.data as {
        child_id?: string;
        agent_id?: string | null;
      };
      if (event.type === 'ChildSpawned' && child) sessions.push(child);
      if (event.type === 'SessionSpawned' && agent) agents.add(agent);
    }
  }
  for (const agent of agents) for await (const event of log.read(names.agent(agent))) found.push(event);
  return found.sort((a, b) => (a.position < b.position ? -1 : 1));
}
