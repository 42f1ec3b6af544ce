import type { ProjectedRow, Projection } from '../projection.js';

/** A command that was carried out, found by any of its keys (`api.md` 1, idempotency). */
export interface CommandKeyRow extends ProjectedRow {
  readonly key: string;
  readonly hash: string;
  readonly status: number;
  readonly result: Readonly<Record<string, string>>;
  readonly recorded_at: number;
}

export const commandKeysProjection: Projection<CommandKeyRow> = {
  name: 'command-keys',
  version: 1,
  table: {
    name: 'command_keys',
    columns: {
      key: 'text',
      hash: 'text',
      status: 'integer',
      result: 'json',
      recorded_at: 'timestamptz',
      position: 'bigint',
    },
    primaryKey: ['key'],
    guards: ['position'],
    indexes: [],
    hot: [],
    insertOnly: true,
  },
  keysOf: ({ metadata }) => (metadata.command?.keys ?? []).map(({ key }) => [key]),
  apply({ metadata, recordedAt, position }, rows) {
    const command = metadata.command;
    for (const { key, hash } of command?.keys ?? []) {
      rows.put({
        key,
        hash,
        status: command?.status ?? 0,
        result: command?.result ?? {},
        recorded_at: recordedAt,
        position,
      });
    }
  },
};
