import { randomUUID } from 'node:crypto';
import {
  type EventStoreDBClient,
  jsonEvent,
  NO_STREAM,
  START,
  streamNameFilter,
} from '@eventstore/db-client';
import { type HttpLoad, load, type LoadResult } from './load.js';

export const IN_FLIGHT = [1, 16, 64] as const;

/** As large as what the server writes for one transcript item: about 600 bytes with its metadata. */
function item(): Record<string, unknown> {
  return {
    item_id: `item_${randomUUID().replaceAll('-', '')}`,
    response_id: `resp_${randomUUID().replaceAll('-', '')}`,
    item_type: 'message',
    payload: { role: 'assistant', content: [{ type: 'output_text', text: TEXT }], model: 'bench' },
    created_by: null,
  };
}

const TEXT =
  'The login redirect keeps the return path only when the cookie is first-party, so the fix is to sign it.';

function metadata(): Record<string, unknown> {
  const id = randomUUID();
  const root = `conv_${id.replaceAll('-', '')}`;
  return {
    schema: 1,
    $correlationId: id,
    $causationId: id,
    actor: 'anonymous',
    occurred_at: new Date().toISOString(),
    root_id: root,
    ancestor_ids: [root],
  };
}

/** The client alone, one stream for each writer, exact revisions: what the server itself cannot exceed. */
export async function rawAppends(
  client: EventStoreDBClient,
  count: number,
  inFlight: number,
): Promise<LoadResult> {
  const run = randomUUID();
  const revisions = new Map<number, bigint>();
  return load(count, inFlight, async (worker) => {
    const last = revisions.get(worker);
    const event = jsonEvent({ type: 'ItemAppended', data: item(), metadata: metadata() });
    const result = await client.appendToStream(`bench-${run}-${worker}`, event, {
      expectedRevision: last ?? NO_STREAM,
    });
    revisions.set(worker, result.nextExpectedRevision);
  });
}

/** One session for each writer, children of one root; each post answers when its item can be read. */
export async function posts(
  http: HttpLoad,
  count: number,
  inFlight: number,
  headers: Record<string, string> = {},
): Promise<LoadResult> {
  const sessions = await makeSessions(http, inFlight);
  return load(count, inFlight, async (worker) => {
    const data = {
      item_type: 'message',
      item_data: { role: 'assistant', agent: 'bench', content: [{ type: 'output_text', text: TEXT }] },
    };
    const { status, body } = await http.post(
      `/v1/sessions/${sessions[worker] ?? ''}/events`,
      { type: 'external_conversation_item', data },
      headers,
    );
    if (status !== 202) throw new Error(`a post was answered ${status}: ${body}`);
  });
}

export async function makeSessions(http: HttpLoad, count: number): Promise<string[]> {
  const agent = await created(http, '/v1/agents', { name: `bench-${randomUUID()}` });
  const root = await created(http, '/v1/sessions', { agent_id: agent });
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) {
    ids.push(await created(http, '/v1/sessions', { parent_session_id: root, title: `bench:${index}` }));
  }
  return ids;
}

async function created(http: HttpLoad, path: string, body: object): Promise<string> {
  const answer = await http.post(path, body);
  if (answer.status !== 201) throw new Error(`${path} was answered ${answer.status}: ${answer.body}`);
  return (JSON.parse(answer.body) as { id: string }).id;
}

/** Everything of Rollcall in the log through the client's subscription, decoded and dropped: events a second. */
export async function rawRead(
  client: EventStoreDBClient,
  prefix: string,
): Promise<{ events: number; perSecond: number }> {
  const started = performance.now();
  let events = 0;
  const subscription = client.subscribeToAll({
    fromPosition: START,
    filter: streamNameFilter({ prefixes: [prefix] }),
  });
  subscription.on('data', () => {
    events += 1;
  });
  await new Promise<void>((resolve, reject) => {
    subscription.once('caughtUp', resolve);
    subscription.once('error', reject);
  });
  const seconds = (performance.now() - started) / 1000;
  await subscription.unsubscribe();
  return { events, perSecond: events / seconds };
}
