import { RecentIds } from '../rules/recent-ids.js';
import { CommitSignal } from './commit-signal.js';
import { SqlDatabase } from './database.js';
import { GroupCommit } from './group-commit.js';
import type { LogParts, LogWrite, WriteOutcome } from './log-writer.js';
import { LogWriter } from './log-writer.js';
import { NameTable } from './name-table.js';
import { FIRST_POSITION, RecordTable, positionAfter } from './record-table.js';
import { prepareSchema } from './schema.js';
import { StreamStates } from './stream-states.js';
import { systemEventWrites } from './system-events.js';

/** The log of one node: every write is on disk when its promise resolves. */
export class EventLog {
  readonly streams: NameTable;
  readonly types: NameTable;
  readonly records: RecordTable;
  readonly states: StreamStates;
  readonly signal = new CommitSignal();
  private readonly writer: LogWriter;
  private readonly group: GroupCommit<LogWrite, WriteOutcome>;

  /** `file` is a path or `:memory:`; `now` answers milliseconds since the epoch. */
  constructor(
    readonly database: SqlDatabase,
    readonly now: () => number,
  ) {
    prepareSchema(database);
    this.streams = new NameTable(database, 'streams');
    this.types = new NameTable(database, 'event_types');
    this.records = new RecordTable(database);
    this.states = new StreamStates(this.streams, this.records);
    const parts: LogParts = { ...this.parts(), recent: new RecentIds(), now };
    this.writer = new LogWriter(parts, this.headOnDisk());
    this.group = new GroupCommit(
      (writes) => this.commit(writes, parts.recent),
      () => this.signal.announce(),
    );
    if (this.head === FIRST_POSITION) this.commit(systemEventWrites(), parts.recent);
  }

  static open(file: string, now: () => number): EventLog {
    const database = new SqlDatabase(file);
    try {
      return new EventLog(database, now);
    } catch (error) {
      database.close();
      throw error;
    }
  }

  /** The position that the next record will get: everything before it is durable. */
  get head(): bigint {
    return this.writer.head;
  }

  write(write: LogWrite): Promise<WriteOutcome> {
    return this.group.submit(write);
  }

  close(): void {
    this.group.flush();
    this.database.close();
  }

  private parts(): Omit<LogParts, 'recent' | 'now'> {
    return { streams: this.streams, types: this.types, records: this.records, states: this.states };
  }

  private commit(writes: readonly LogWrite[], recent: RecentIds): readonly WriteOutcome[] {
    const { head } = this.writer;
    try {
      return this.database.transaction(() => writes.map((write) => this.writer.apply(write)));
    } catch (error) {
      this.writer.head = head;
      this.states.forget();
      this.streams.forget();
      this.types.forget();
      recent.clear();
      throw error;
    }
  }

  private headOnDisk(): bigint {
    const last = this.records.last();
    return last === undefined ? FIRST_POSITION : positionAfter(last);
  }
}
