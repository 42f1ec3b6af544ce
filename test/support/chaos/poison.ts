import { randomUUID } from 'node:crypto';
import { rawEventStore, type NewEvent } from '../event-store.js';
import type { ExclusiveStack } from '../exclusive-stack.js';
import { query, setSchema, type Row } from './read-models.js';

const EVENTS_PER_APPEND = 500;

/** From now on Postgres refuses items with this text: what an event that no row can hold looks like, and can be mended. */
export async function refuseItemsWith(stack: ExclusiveStack, text: string): Promise<void> {
  await inSet(
    stack,
    (schema) =>
      `ALTER TABLE ${schema}.session_items ADD CONSTRAINT ${text} CHECK (payload::text NOT LIKE '%${text}%')`,
  );
}

export async function takeItemsWith(stack: ExclusiveStack, text: string): Promise<void> {
  await inSet(stack, (schema) => `ALTER TABLE ${schema}.session_items DROP CONSTRAINT ${text}`);
}

/** Writes items straight into a session's stream, past all commands. */
export async function writeItems(
  stack: ExclusiveStack,
  session: string,
  texts: readonly string[],
): Promise<void> {
  const stream = streamOf(session);
  const log = rawEventStore(stack.eventStoreUrl);
  try {
    const events = await log.read(stream);
    const metadata = events[0]?.metadata ?? {};
    let revision = BigInt(events.length - 1);
    for (let from = 0; from < texts.length; from += EVENTS_PER_APPEND) {
      const items = texts.slice(from, from + EVENTS_PER_APPEND).map((text) => itemOf(text, metadata));
      await log.append(stream, items, revision);
      revision += BigInt(items.length);
    }
  } finally {
    await log.dispose();
  }
}

export const streamOf = (session: string): string => `rollcall.session-${session}`;

export async function parkedRow(stack: ExclusiveStack, session: string): Promise<Row | null> {
  const { rows } = await query(stack.databaseUrl, (client) =>
    client.query<Row>('SELECT * FROM rollcall.parked_streams WHERE stream = $1', [streamOf(session)]),
  );
  return rows[0] ?? null;
}

function itemOf(text: string, { command: _, ...metadata }: Record<string, unknown>): NewEvent {
  const data = {
    item_id: `item_${randomUUID().replaceAll('-', '')}`,
    response_id: 'resp_1',
    item_type: 'message',
    payload: { role: 'assistant', content: [{ type: 'output_text', text }] },
    created_by: null,
  };
  return { type: 'ItemAppended', data, metadata };
}

async function inSet(stack: ExclusiveStack, sql: (schema: string) => string): Promise<void> {
  const schema = await setSchema(stack.databaseUrl);
  await query(stack.databaseUrl, (client) => client.query(sql(schema)));
}
