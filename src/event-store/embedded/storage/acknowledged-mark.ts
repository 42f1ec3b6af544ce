import {
  closeSync,
  fdatasync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { crc32 } from 'node:zlib';
import { DamagedLogError } from './checksum.js';
import { errorCode } from './database.js';

const DIGITS = 20;
const SYNC_EVERY_MS = 1_000;

/**
 * A file beside the log that says before which position every event was acknowledged. It is written after each
 * commit and before its answers, so a log that ends earlier has lost something, however whole it looks.
 *
 * The write itself is not synced: it outlives this process at once, and a power failure within a second. A mark
 * that is behind is harmless, and none can be ahead: it never reaches the disk before the commit it speaks of.
 */
export class AcknowledgedMark {
  private readonly descriptor: number;
  private syncing: NodeJS.Timeout | undefined;

  private constructor(
    private readonly file: string,
    /** What the file said when it was opened; 0 when there was none. */
    readonly found: bigint,
  ) {
    this.descriptor = openSync(file, 'r+');
  }

  /** Makes the file if it is missing. Throws `DamagedLogError` when it holds no mark. */
  static open(file: string): AcknowledgedMark {
    const found = read(file);
    if (found === undefined) create(file);
    return new AcknowledgedMark(file, found ?? 0n);
  }

  note(position: bigint): void {
    writeSync(this.descriptor, encode(position), 0, 'latin1');
    this.syncing ??= setTimeout(() => this.sync(), SYNC_EVERY_MS).unref();
  }

  /** Keeps the file: the log is not known to be whole. */
  close(): void {
    clearTimeout(this.syncing);
    closeSync(this.descriptor);
  }

  /** The log is closed and whole in one file, which proves itself. */
  remove(): void {
    this.close();
    rmSync(this.file);
  }

  private sync(): void {
    this.syncing = undefined;
    // Its failure is no news: a disk that syncs no more fails the next commit, too.
    fdatasync(this.descriptor, () => undefined);
  }
}

function encode(position: bigint): string {
  const digits = String(position).padStart(DIGITS, '0');
  return `${digits} ${crc32(digits).toString(16).padStart(8, '0')}\n`;
}

function read(file: string): bigint | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'latin1');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
  const digits = text.slice(0, DIGITS);
  const position = /^\d{20}$/.test(digits) ? BigInt(digits) : -1n;
  if (position < 0n || encode(position) !== text) throw new DamagedLogError(`${file} holds no position`);
  return position;
}

/** Under its name only when it is on disk: a crash leaves no empty file, which would look damaged. */
function create(file: string): void {
  const fresh = `${file}.new`;
  const descriptor = openSync(fresh, 'w', 0o600);
  writeSync(descriptor, encode(0n), 0, 'latin1');
  fsyncSync(descriptor);
  closeSync(descriptor);
  renameSync(fresh, file);
}
