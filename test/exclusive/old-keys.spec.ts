import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { Client } from 'pg';
import { ExclusiveStack } from '../support/exclusive-stack.js';
import { roll } from '../support/roll.js';
import { unique } from '../support/unique.js';

/** Ids follow from keys for ever, so keys are kept for ever: a forgotten one would lose what it is used for next. */
jest.setTimeout(60_000);

let stack: ExclusiveStack;

beforeAll(async () => {
  stack = await ExclusiveStack.start();
});

afterAll(() => stack.dispose());

/** As if all keys had been used a month earlier. */
async function ageKeys(): Promise<number> {
  const client = new Client({ connectionString: stack.databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ table: string }>(
      `SELECT format('%I.%I', schemaname, tablename) AS table FROM pg_tables WHERE tablename = 'command_keys'`,
    );
    const aged = await client.query(
      `UPDATE ${rows[0]?.table ?? ''} SET recorded_at = recorded_at - interval '30 days'`,
    );
    return aged.rowCount ?? 0;
  } finally {
    await client.end();
  }
}

it('a key that was used long ago still answers its own request, and refuses another', async () => {
  const first = await stack.startServer();
  const session = await roll(first.url).root();
  const headers = { 'idempotency-key': unique('key') };
  const say = (url: string, text: string) =>
    roll(url).event(session.id, 'external_assistant_message', { agent: 'coder', text }, { headers });
  const said = await say(first.url, 'one');
  expect(said.status).toBe(202);
  await first.end('SIGTERM');
  expect(await ageKeys()).toBeGreaterThan(0);
  // A server that has never seen the key in its own memory.
  const { url } = await stack.startServer();
  const again = await say(url, 'one');
  expect([again.status, again.text]).toEqual([202, said.text]);
  expect(again.headers.get('idempotency-replayed')).toBe('true');
  const other = await say(url, 'two');
  expect([other.status, other.body]).toMatchObject([409, { error: { code: 'idempotency_mismatch' } }]);
  expect(await roll(url).items(session.id)).toHaveLength(1);
});
