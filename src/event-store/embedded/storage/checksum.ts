import { crc32 } from 'node:zlib';

/** What a record's checksum covers: its bytes and the columns that place it. */
export interface RecordPlace {
  readonly position: bigint;
  readonly stream: bigint;
  readonly revision: bigint;
  readonly type: bigint;
  readonly created: bigint;
}

const columns = Buffer.alloc(40);

export function recordChecksum(place: RecordPlace, record: Buffer): number {
  columns.writeBigInt64LE(place.position, 0);
  columns.writeBigInt64LE(place.stream, 8);
  columns.writeBigInt64LE(place.revision, 16);
  columns.writeBigInt64LE(place.type, 24);
  columns.writeBigInt64LE(place.created, 32);
  return crc32(record, crc32(columns));
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
