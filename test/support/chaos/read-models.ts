import { Client } from 'pg';

export type Row = Readonly<Record<string, unknown>>;

/** Looks at the read models beside the server. Opens and closes a connection of its own for each look. */
export async function readModels(databaseUrl: string, sql: (schema: string) => string): Promise<Row[]> {
  return query(databaseUrl, async (client) => {
    const schema = await schemaOf(client);
    return (await client.query<Row>(sql(schema))).rows;
  });
}

/** The name of the schema of the one set that this database holds. */
export async function setSchema(databaseUrl: string): Promise<string> {
  return query(databaseUrl, schemaOf);
}

export async function query<T>(databaseUrl: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: databaseUrl });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

async function schemaOf(client: Client): Promise<string> {
  const found = await client.query<{ nspname: string }>(
    `SELECT nspname FROM pg_namespace WHERE nspname LIKE 'rollcall\\_set\\_%'`,
  );
  const [only, ...more] = found.rows;
  if (!only || more.length > 0) throw new Error(`expected one set, found ${found.rows.length}`);
  return only.nspname;
}
