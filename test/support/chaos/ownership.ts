import { query } from './read-models.js';

/** Counts the owners that the set has had; 0 while it has none. */
export async function epoch(databaseUrl: string): Promise<number> {
  const { rows } = await query(databaseUrl, (client) =>
    client.query<{ epoch: string }>('SELECT epoch FROM rollcall.projection_sets WHERE owner IS NOT NULL'),
  );
  return Number(rows[0]?.epoch ?? 0);
}
