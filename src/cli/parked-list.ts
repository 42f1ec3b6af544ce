import pg from 'pg';
import { ParkedList } from '../projection-engine/parked-list.js';
import { SET_VERSION } from '../projection-engine/this-set.js';

/** Works on what is parked in this build's set. Throws when no server of this version has run on the database yet. */
export async function withParkedList<Result>(
  databaseUrl: string,
  work: (list: ParkedList) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client({ connectionString: databaseUrl, application_name: 'rollcall-cli' });
  client.on('error', () => undefined);
  await client.connect();
  try {
    const known = await client
      .query('SELECT FROM rollcall.projection_sets WHERE version = $1', [SET_VERSION])
      .catch(() => null);
    if (!known || known.rowCount === 0)
      throw new Error('no server of this version has filled read models here yet');
    return await work(new ParkedList(client, SET_VERSION));
  } finally {
    await client.end();
  }
}
