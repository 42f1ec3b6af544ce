import { existsSync } from 'node:fs';
import { RecentIds } from '../rules/recent-ids.js';
import { AcknowledgedMark } from './acknowledged-mark.js';
import { DamagedLogError } from './checksum.js';
import { CommitSignal } from './commit-signal.js';
import { SqlDatabase } from './database.js';
import type { InSteps, Settled } from './group-commit.js';
import { GroupCommit } from './group-commit.js';
import { asDamage } from './log-verification.js';
import type { LogParts, LogWrite, WriteOutcome } from './log-writer.js';
import { LogWriter, bytesIn } from './log-writer.js';
import { NameTable } from './name-table.js';
import { FIRST_POSITION, RecordTable, positionAfter } from './record-table.js';
import { prepareSchema } from './schema.js';
import { StreamStates } from './stream-states.js';
import { systemEventWrites } from './system-events.js';

/** Beyond all positions. */
const EVERYTHING = 2n ** 63n - 1n;

interface LogFiles {
  readonly mark: AcknowledgedMark;
  readonly writeAheadLog: string;
}

/** The log of one node: every write is on disk when its promise resolves. */
export class EventLog {
  readonly streams: NameTable;
  readonly types: NameTable;
  readonly records: RecordTable;
  /** As far as it is committed, which is what readers may know. */
  readonly states: StreamStates;
  readonly signal = new CommitSignal();
  private committed: bigint;
  private readonly parts: LogParts;
  private readonly writer: LogWriter;
  private readonly group: GroupCommit<LogWrite, WriteOutcome>;

  private constructor(
    readonly database: SqlDatabase,
    readonly now: () => number,
    private readonly files: LogFiles | undefined,
    private readonly onFault: (error: unknown) => void,
  ) {
    this.streams = new NameTable(database, 'streams');
    this.types = new NameTable(database, 'event_types');
    this.records = new RecordTable(database);
    this.committed = this.headOnDisk();
    this.states = new StreamStates(this.streams, this.records, () => this.committed);
    const { streams, types, records } = this;
    const states = new StreamStates(streams, records, () => EVERYTHING);
    this.parts = { streams, types, records, states, recent: new RecentIds(), now };
    this.writer = new LogWriter(this.parts, this.committed);
    this.group = new GroupCommit(
      (writes) => this.commit(writes),
      () => this.signal.announce(),
      bytesIn,
    );
    this.checkAcknowledged();
    if (this.head === FIRST_POSITION) this.writeSystemEvents();
  }

  /**
   * `file` is a path or `:memory:`; `now` answers milliseconds since the epoch; `onFault` is told why a write could
   * not be done, beside its writer, who may hear less, and of marks that could not be written.
   */
  static open(
    file: string,
    now: () => number,
    onFault: (error: unknown) => void = () => undefined,
  ): EventLog {
    const database = new SqlDatabase(file);
    let files: LogFiles | undefined;
    try {
      prepareSchema(database);
      // Only now this process has the file for itself, and with it the mark.
      if (file !== ':memory:') {
        const mark = AcknowledgedMark.open(`${file.replace(/\.db$/, '')}.acknowledged`);
        files = { mark, writeAheadLog: `${file}-wal` };
      }
      return new EventLog(database, now, files, onFault);
    } catch (error) {
      files?.mark.close();
      database.abandon();
      throw error;
    }
  }

  /** The position that the next record will get: everything before it is durable. */
  get head(): bigint {
    return this.committed;
  }

  /** Where the newest record stands. */
  get lastPosition(): bigint | undefined {
    return this.head === FIRST_POSITION
      ? undefined
      : this.records.windowBackwards(this.head, 1n, 1)[0]?.position;
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

  /** Instead of `close`, for a log that is refused: nothing in the directory changes. */
  abandon(): void {
    this.database.abandon();
    this.files?.mark.close();
  }

  private checkAcknowledged(): void {
    const acknowledged = this.files?.mark.found ?? 0n;
    if (this.head >= acknowledged) return;
    throw new DamagedLogError(
      `the log ends at position ${this.head}, but events before position ${acknowledged} were acknowledged`,
    );
  }

  /** All in one transaction; if that fails, one by one, so that a write which cannot be done fails alone. */
  private *commit(writes: readonly LogWrite[]): InSteps<readonly Settled<WriteOutcome>[]> {
    try {
      const outcomes = yield* this.database.transactionInSteps(() => this.apply(writes));
      this.advance();
      return outcomes.map((result) => ({ kind: 'done', result }));
    } catch (thrown) {
      this.writer.head = this.committed;
      this.parts.recent.clear();
      for (const cache of [this.states, this.parts.states, this.streams, this.types]) cache.forget();
      if (writes.length === 1) {
        const error = asDamage(thrown, 'the storage that a write needed');
        this.onFault(error);
        return [{ kind: 'failed', error }];
      }
    }
    const settled: Settled<WriteOutcome>[] = [];
    for (const write of writes) {
      settled.push(...(yield* this.commit([write])));
      yield;
    }
    return settled;
  }

  private advance(): void {
    this.committed = this.writer.head;
    this.states.follow(this.parts.states);
    try {
      this.files?.mark.note(this.head);
    } catch (error) {
      // What is on disk is not answered with an error for it: a mark that is behind is harmless.
      this.onFault(error);
    }
  }

  private *apply(writes: readonly LogWrite[]): InSteps<readonly WriteOutcome[]> {
    const outcomes: WriteOutcome[] = [];
    for (const write of writes) outcomes.push(yield* this.writer.apply(write));
    return outcomes;
  }

  private writeSystemEvents(): void {
    const steps = this.commit(systemEventWrites());
    let step = steps.next();
    while (step.done !== true) step = steps.next();
    for (const settled of step.value) if (settled.kind === 'failed') throw settled.error;
  }

  private headOnDisk(): bigint {
    const last = this.records.last();
    return last === undefined ? FIRST_POSITION : positionAfter(last);
  }
}
