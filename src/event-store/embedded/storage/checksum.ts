import { crc32 } from 'node:zlib';

/** What a record's checksum covers: its bytes and the columns that place it. */
export interface RecordPlace {
  readonly position: bigint;
  readonly stream: bigint;
  readonly revision: bigint;
  readonly type: bigint;
  readonly created: bigint;
}

// A typed array is several times faster than Buffer's writers. Its bytes are little-endian on every platform
// that the storage engine is built for, so files move between them.
const columns = new BigInt64Array(5);
const columnBytes = Buffer.from(columns.buffer);

export function recordChecksum(place: RecordPlace, record: Buffer): number {
  columns[0] = place.position;
  columns[1] = place.stream;
  columns[2] = place.revision;
  columns[3] = place.type;
  columns[4] = place.created;
  return crc32(record, crc32(columnBytes));
}

export function nameChecksum(id: bigint, name: Buffer): number {
  return crc32(name, Number(id & 0xffffffffn));
}

/** The file does not hold what was written to it. The message names the place. */
export class DamagedLogError extends Error {
  constructor(place: string) {
    super(`the event store file is damaged: ${place}`);
  }
}
