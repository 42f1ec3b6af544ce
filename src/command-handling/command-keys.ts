import type { Database } from '../database/database.js';
import type { CommandKey } from '../event-store/recorded-event.js';
import type { Position } from '../event-store/position.js';

/** Idempotency keys are remembered this long; natural keys for ever (`api.md` 1). */
const IDEMPOTENCY_KEY_HOURS = 24;

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

/** The read model `command-keys`. */
export class CommandKeys {
  constructor(
    private readonly database: Database,
    private readonly schema: string,
  ) {}

  /** `aging` is the Idempotency-Key among `keys`, the only one that is ever forgotten. */
  async find(keys: readonly CommandKey[], aging: CommandKey | null): Promise<KeyLookUp> {
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
         ON k.key = ANY($1::text[])
         AND (k.key IS DISTINCT FROM $2 OR k.recorded_at > clock_timestamp() - interval '${IDEMPOTENCY_KEY_HOURS} hours')`,
      [keys.map(({ key }) => key), aging?.key ?? null],
    );
    const known = rows.flatMap(({ key, hash, result, position }) =>
      key === null ? [] : [{ key, hash, result, position: BigInt(position) }],
    );
    return { known, checkpoint: BigInt(rows[0]?.checkpoint ?? -1) };
  }
}
