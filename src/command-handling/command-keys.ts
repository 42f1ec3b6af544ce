import type { Database } from '../database/database.js';
import type { CommandKey } from '../event-store/recorded-event.js';
import type { Position } from '../event-store/position.js';

export interface KnownCommand {
  readonly key: string;
  readonly hash: string;
  readonly result: Readonly<Record<string, string>>;
  readonly position: Position;
}

export interface KeyLookUp {
  readonly known: readonly KnownCommand[];
  /** The checkpoint of the same snapshot. */
  readonly checkpoint: Position;
}

/**
 * The read model `command-keys`. No key ever ages: the ids of what a command made follow from its key for ever, so a
 * key that was forgotten would be carried out again into ids that are taken, and its content lost.
 */
export class CommandKeys {
  constructor(
    private readonly database: Database,
    private readonly schema: string,
  ) {}

  async find(keys: readonly CommandKey[]): Promise<KeyLookUp> {
    const rows = await this.database.query<{
      checkpoint: string;
      key: string | null;
      hash: string;
      result: Record<string, string>;
      position: string;
    }>(
      'command-keys',
      `SELECT c.position AS checkpoint, k.key, k.hash, k.result, k.position
       FROM ${this.schema}.checkpoint c LEFT JOIN ${this.schema}.command_keys k
         ON k.key = ANY($1::text[])`,
      [keys.map(({ key }) => key)],
    );
    const known = rows.flatMap(({ key, hash, result, position }) =>
      key === null ? [] : [{ key, hash, result, position: BigInt(position) }],
    );
    return { known, checkpoint: BigInt(rows[0]?.checkpoint ?? -1) };
  }
}
