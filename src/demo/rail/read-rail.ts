import type { RollcallClient } from '../rollcall-client.js';
import { type ChildRow, entryOf, type RailEntry } from './entry.js';

interface ListPage {
  readonly data: readonly ChildRow[];
  readonly last_id: string | null;
  readonly has_more: boolean;
}

const PAGE = 1_000;

/** Everything below a session, in the order of its birth, each child followed by its own children. */
export async function readRail(client: RollcallClient, sessionId: string, depth = 0): Promise<RailEntry[]> {
  const entries: RailEntry[] = [];
  let after = '';
  for (;;) {
    const path = `/v1/sessions/${sessionId}/child_sessions?order=asc&limit=${PAGE}${after}`;
    const page = await client.get<ListPage>(path);
    for (const row of page.data)
      entries.push(entryOf(row, depth), ...(await readRail(client, row.id, depth + 1)));
    if (!page.has_more || page.last_id === null) return entries;
    after = `&after=${page.last_id}`;
  }
}
