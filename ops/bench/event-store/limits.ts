import { connect } from 'node:http2';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { SqlDatabase } from '../../../src/event-store/embedded/storage/database.js';
import { RecordTable } from '../../../src/event-store/embedded/storage/record-table.js';
import { prepareSchema } from '../../../src/event-store/embedded/storage/schema.js';
import { load } from './measure.js';

/** Bytes of one event on the wire and in a row, within a few. */
export const EVENT_BYTES = 640;

/** Durable commits of the storage engine alone, one record each: per second, and the time of each. */
export async function rawCommits(dir: string, count: number) {
  const file = join(dir, 'raw-commits.db');
  const database = new SqlDatabase(file);
  prepareSchema(database);
  const table = new RecordTable(database);
  const bytes = Buffer.alloc(EVENT_BYTES, 0x61);
  let position = 64n;
  let revision = 0n;
  const result = await load(count, 1, async () => {
    database.transaction(() =>
      table.insert({ position, stream: 1n, revision, type: 1n, created: 0n }, bytes),
    );
    position += 700n;
    revision += 1n;
  });
  database.close();
  rmSync(file);
  return result;
}

/** The same bytes there and back over a bare HTTP/2 connection, one request each. */
export async function rawEchoes(port: number, count: number, inFlight: number) {
  const session = connect(`http://127.0.0.1:${port}`);
  const bytes = Buffer.alloc(EVENT_BYTES, 0x61);
  const echo = (): Promise<void> =>
    new Promise((settle, reject) => {
      const stream = session.request({ ':method': 'POST', ':path': '/echo' });
      stream.on('data', () => undefined);
      stream.once('end', settle);
      stream.once('error', reject);
      stream.end(bytes);
    });
  const result = await load(count, inFlight, echo);
  session.close();
  return result;
}
