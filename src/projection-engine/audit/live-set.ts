import type { AnyProjection } from '../../../projections/projection-set.js';
import type { Position } from '../../event-store/position.js';
import { parkedDetails } from '../parked-table.js';
import type { ParkedStream } from '../parking.js';
import { ForeignLog } from '../set-schema.js';
import { schemaOf } from '../set-version.js';
import { AuditImpossible } from './audit-impossible.js';
import { type ReaderOptions, SetReader } from './set-reader.js';

/** What the live set says of itself at one instant. */
export interface LiveState {
  readonly position: Position;
  readonly parked: readonly ParkedStream[];
}

export interface LiveSnapshot extends LiveState {
  readonly reader: SetReader;
}

/** The set that serves, seen from beside it. */
export class LiveSet {
  constructor(
    private readonly url: string,
    private readonly version: string,
    private readonly logId: string | null,
    private readonly options: ReaderOptions,
  ) {}

  /** Throws `AuditImpossible` when there is no such set, `ForeignLog` when it belongs to another log. */
  async look(): Promise<LiveState> {
    const { reader, position, parked } = await this.snapshot([]);
    await reader.close();
    return { position, parked };
  }

  /** To be closed soon: as long as it stands, Postgres keeps what is updated. Throws like `look`. */
  async snapshot(projections: readonly AnyProjection[]): Promise<LiveSnapshot> {
    const schema = schemaOf(this.version);
    const reader = await this.open(schema, projections);
    try {
      const [checkpoint] = await reader.query<{ log_id: string; position: string }>(
        'checkpoint',
        `SELECT log_id, position FROM ${schema}.checkpoint`,
      );
      if (!checkpoint) throw new AuditImpossible('the read models have no checkpoint');
      if (checkpoint.log_id !== this.logId) {
        throw new ForeignLog(
          `The read models belong to log ${checkpoint.log_id}, this is ${this.logId === null ? 'a log without a name' : `log ${this.logId}`}`,
        );
      }
      return {
        reader,
        position: BigInt(checkpoint.position),
        parked: await parkedDetails(reader, this.version),
      };
    } catch (error) {
      await reader.close();
      throw error;
    }
  }

  private async open(schema: string, projections: readonly AnyProjection[]): Promise<SetReader> {
    try {
      return await SetReader.open(this.url, schema, projections, this.options);
    } catch (error) {
      if (!isMissing(error)) throw error;
      throw new AuditImpossible('there are no read models of this build yet: start the server once');
    }
  }
}

const MISSING = new Set(['3F000', '42P01']);

/** No such schema, no such table. */
function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && MISSING.has(String(error.code));
}
