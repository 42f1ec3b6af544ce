import type { SnapshotStore, StoredSnapshot } from '../event-store/aggregates/snapshot-store.js';
import type { Database } from './database.js';

/** Folded streams in Postgres, so that a command never reads a long stream from its beginning (design 4). */
export class SnapshotTable implements SnapshotStore {
  constructor(
    private readonly database: Database,
    /** Snapshots belong to one log, like everything that names positions. */
    private readonly logId: string,
  ) {}

  async load(stream: string, version: number): Promise<StoredSnapshot | null> {
    const rows = await this.database
      .query<{ revision: string; position: string; state: unknown }>(
        'snapshot-load',
        'SELECT revision, position, state FROM rollcall.stream_snapshots WHERE stream = $1 AND log_id = $2 AND version = $3',
        [stream, this.logId, version],
      )
      .catch(() => []);
    const [row] = rows;
    return row ? { revision: BigInt(row.revision), position: BigInt(row.position), state: row.state } : null;
  }

  async save(stream: string, version: number, { revision, position, state }: StoredSnapshot): Promise<void> {
    await this.database
      .query(
        'snapshot-save',
        `INSERT INTO rollcall.stream_snapshots AS s (stream, log_id, version, revision, position, state)
         VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (stream) DO UPDATE SET log_id = excluded.log_id, version = excluded.version,
           revision = excluded.revision, position = excluded.position, state = excluded.state
         WHERE s.log_id <> excluded.log_id OR s.version <> excluded.version OR s.revision < excluded.revision`,
        [stream, this.logId, version, revision.toString(), position.toString(), JSON.stringify(state)],
      )
      .catch(() => []);
  }
}
