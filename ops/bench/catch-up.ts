import pg from 'pg';
import { SET_SCHEMA } from '../../src/projection-engine/this-set.js';
import type { BenchStack } from './stack.js';

const POLL_MS = 20;

/**
 * Fills the read models of an existing log from nothing: the set's schema is dropped, a server starts, and the time
 * runs from its first look at the empty checkpoint until the checkpoint reaches where it stood before.
 */
export async function catchUp(stack: BenchStack): Promise<{ seconds: number }> {
  const client = new pg.Client({ connectionString: stack.databaseUrl });
  await client.connect();
  const position = async (): Promise<bigint | null> => {
    const found = await client
      .query<{ position: string }>(`SELECT position FROM ${SET_SCHEMA}.checkpoint`)
      .catch(() => null);
    return found?.rows[0] ? BigInt(found.rows[0].position) : null;
  };
  try {
    const target = (await position()) ?? 0n;
    await client.query(`DROP SCHEMA ${SET_SCHEMA} CASCADE`);
    const starting = stack.startServer();
    let began: number | null = null;
    for (;;) {
      const now = await position();
      if (now !== null) began ??= performance.now();
      if (now !== null && now >= target) break;
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    const seconds = (performance.now() - (began ?? 0)) / 1000;
    await (await starting).stop();
    return { seconds };
  } finally {
    await client.end();
  }
}
