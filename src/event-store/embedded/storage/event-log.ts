import { existsSync } from 'node:fs';
import { RecentIds } from '../rules/recent-ids.js';
import { AcknowledgedMark } from './acknowledged-mark.js';
import { DamagedLogError } from './checksum.js';
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

interface LogFiles {
  readonly mark: AcknowledgedMark;
  readonly writeAheadLog: string;
}

/** The log of one node: every write is on disk when its promise resolves. */
export class EventLog {
  readonly streams: NameTable;
  readonly types: NameTable;
  readonly records: RecordTable;
  readonly states: StreamStates;
  readonly signal = new CommitSignal();
  private readonly writer: LogWriter;
  private readonly group: GroupCommit<LogWrite, WriteOutcome>;

  private constructor(
    readonly database: SqlDatabase,
    readonly now: () => number,
    private readonly files: LogFiles | undefined,
  ) {
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
    this.checkAcknowledged();
    if (this.head === FIRST_POSITION) this.commit(systemEventWrites(), parts.recent);
  }

  /** `file` is a path or `:memory:`; `now` answers milliseconds since the epoch. */
  static open(file: string, now: () => number): EventLog {
    const database = new SqlDatabase(file);
    let files: LogFiles | undefined;
    try {
      prepareSchema(database);
      // Only now this process has the file for itself, and with it the mark.
      if (file !== ':memory:') {
        const mark = AcknowledgedMark.open(`${file.replace(/\.db$/, '')}.acknowledged`);
        files = { mark, writeAheadLog: `${file}-wal` };
      }
      return new EventLog(database, now, files);
    } catch (error) {
      files?.mark.close();
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
    if (this.files === undefined) return;
    // A write-ahead log that could not be brought into the file is checked by the mark at the next start.
    if (existsSync(this.files.writeAheadLog)) this.files.mark.close();
    else this.files.mark.remove();
  }

  private checkAcknowledged(): void {
    const acknowledged = this.files?.mark.found ?? 0n;
    if (this.head >= acknowledged) return;
    throw new DamagedLogError(
      `the log ends at position ${this.head}, but events before position ${acknowledged} were acknowledged`,
    );
  }

  private parts(): Omit<LogParts, 'recent' | 'now'> {
    return { streams: this.streams, types: this.types, records: this.records, states: this.states };
  }

  private commit(writes: readonly LogWrite[], recent: RecentIds): readonly WriteOutcome[] {
    const { head } = this.writer;
    let outcomes: readonly WriteOutcome[];
    try {
      outcomes = this.database.transaction(() => writes.map((write) => this.writer.apply(write)));
    } catch (error) {
      this.writer.head = head;
      this.states.forget();
      this.streams.forget();
      this.types.forget();
      recent.clear();
      throw error;
    }
    this.files?.mark.note(this.head);
    return outcomes;
  }

  private headOnDisk(): bigint {
    const last = this.records.last();
    return last === undefined ? FIRST_POSITION : positionAfter(last);
  }
}
