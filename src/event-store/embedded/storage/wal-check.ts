import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';
import { DamagedLogError } from './checksum.js';

const FILE_HEADER = 32;
const FRAME_HEADER = 24;
const MAGIC_LITTLE_ENDIAN = 0x377f0682;
const MAGIC_BIG_ENDIAN = 0x377f0683;

const FRAMES_A_PART = 1_024;

type Sums = readonly [number, number];

/**
 * Looks for damage in SQLite's write-ahead log before SQLite opens it. SQLite takes the first frame that does
 * not match its checksum for the end and drops all behind it. That is right for the torn last transaction of a
 * crash, but each commit is on disk before the next begins: a bad frame with a later transaction behind it is
 * damage to acknowledged events. Throws `DamagedLogError` naming the byte offset. A long log takes seconds:
 * `onPart` is told now and then which part of it is checked.
 *
 * @see https://www.sqlite.org/fileformat2.html#the_write_ahead_log
 */
export function checkWriteAheadLog(file: string, onPart: (part: number) => void): void {
  if (!existsSync(file)) return;
  const descriptor = openSync(file, 'r');
  try {
    const { size } = fstatSync(descriptor);
    const header = read(descriptor, 0, FILE_HEADER);
    // A log cut before its first frame holds nothing that was acknowledged.
    if (header.length < FILE_HEADER) return;
    // Nor does one of zeros, whose first sync never came. Any other is written at once and cannot be torn:
    // SQLite would take a damaged one for an empty log and drop every commit in it.
    if (header.every((byte) => byte === 0)) return;
    const frames = new WalFrames(descriptor, size, header);
    if (!frames.headerIsWhole) throw new DamagedLogError(`${file}, the header at byte 0`);
    scan(frames, file, onPart);
  } finally {
    closeSync(descriptor);
  }
}

function scan(frames: WalFrames, file: string, onPart: (part: number) => void): void {
  let sums = frames.headerSums;
  for (let index = 0; index < frames.count; index += 1) {
    if (index % FRAMES_A_PART === 0) onPart(index / frames.count);
    const next = frames.sumsOf(index, sums);
    if (next === undefined) {
      if (frames.commitsFrom(index) > 1) {
        throw new DamagedLogError(`${file}, frame ${index + 1} at byte ${frames.offsetOf(index)}`);
      }
      return;
    }
    sums = next;
  }
}

class WalFrames {
  readonly count: number;
  readonly headerIsWhole: boolean;
  private readonly pageSize: number;
  private readonly littleEndian: boolean;

  constructor(
    private readonly descriptor: number,
    size: number,
    private readonly header: Buffer,
  ) {
    const magic = header.readUInt32BE(0);
    this.littleEndian = magic === MAGIC_LITTLE_ENDIAN;
    this.pageSize = header.readUInt32BE(8);
    const known = this.littleEndian || magic === MAGIC_BIG_ENDIAN;
    const sums = this.sums(header.subarray(0, 24), [0, 0]);
    this.headerIsWhole = known && sums[0] === header.readUInt32BE(24) && sums[1] === header.readUInt32BE(28);
    this.count = Math.floor((size - FILE_HEADER) / (FRAME_HEADER + this.pageSize));
  }

  get headerSums(): Sums {
    return [this.header.readUInt32BE(24), this.header.readUInt32BE(28)];
  }

  offsetOf(index: number): number {
    return FILE_HEADER + index * (FRAME_HEADER + this.pageSize);
  }

  /** The running checksum behind a frame, or undefined when the frame is not a whole one of this log. */
  sumsOf(index: number, before: Sums): Sums | undefined {
    const frame = read(this.descriptor, this.offsetOf(index), FRAME_HEADER + this.pageSize);
    if (!this.ofThisLog(frame)) return undefined;
    const sums = this.sums(frame.subarray(FRAME_HEADER), this.sums(frame.subarray(0, 8), before));
    return sums[0] === frame.readUInt32BE(16) && sums[1] === frame.readUInt32BE(20) ? sums : undefined;
  }

  /** How many transactions end in this log from a frame on, that frame's own included. */
  commitsFrom(first: number): number {
    let commits = 0;
    for (let index = first; index < this.count; index += 1) {
      const frame = read(this.descriptor, this.offsetOf(index), FRAME_HEADER);
      if (this.ofThisLog(frame) && frame.readUInt32BE(4) !== 0) commits += 1;
    }
    return commits;
  }

  /** Frames of an earlier round of the same file carry other salts. */
  private ofThisLog(frame: Buffer): boolean {
    return frame.subarray(8, 16).equals(this.header.subarray(16, 24));
  }

  private sums(bytes: Buffer, [first, second]: Sums): Sums {
    let a = first;
    let b = second;
    for (let at = 0; at + 8 <= bytes.length; at += 8) {
      const x = this.littleEndian ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at);
      const y = this.littleEndian ? bytes.readUInt32LE(at + 4) : bytes.readUInt32BE(at + 4);
      a = (a + x + b) >>> 0;
      b = (b + y + a) >>> 0;
    }
    return [a, b];
  }
}

function read(descriptor: number, offset: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  return bytes.subarray(0, readSync(descriptor, bytes, 0, length, offset));
}
