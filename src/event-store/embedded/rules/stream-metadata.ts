import { LAST_REVISION } from './expected-state.js';

export const METADATA_TYPE = '$metadata';
export const TOMBSTONE_TYPE = '$streamDeleted';

/** The part of a stream's metadata that decides what of it can be read. */
export interface StreamMetadata {
  readonly maxCount: bigint | undefined;
  readonly maxAgeSeconds: number | undefined;
  readonly truncateBefore: bigint;
}

export const NO_METADATA: StreamMetadata = {
  maxCount: undefined,
  maxAgeSeconds: undefined,
  truncateBefore: 0n,
};

const metastreamPrefix = Buffer.from('$$');

export function isMetastream(stream: Buffer): boolean {
  return stream.length > 2 && stream.subarray(0, 2).equals(metastreamPrefix);
}

export function metastreamOf(stream: Buffer): Buffer {
  return Buffer.concat([metastreamPrefix, stream]);
}

export function originalOf(metastream: Buffer): Buffer {
  return metastream.subarray(metastreamPrefix.length);
}

/** Metadata that is not a JSON object, or values of the wrong kind, count as absent. */
export function parseStreamMetadata(data: Buffer): StreamMetadata {
  const keys = parseObject(data);
  const maxCount = wholeNumber(keys['$maxCount']);
  const maxAge = wholeNumber(keys['$maxAge']);
  return {
    maxCount: maxCount === undefined || maxCount <= 0n ? undefined : maxCount,
    maxAgeSeconds: maxAge === undefined || maxAge <= 0n ? undefined : Number(maxAge),
    truncateBefore: wholeNumber(keys['$tb']) ?? 0n,
  };
}

export function isSoftDeleted(metadata: StreamMetadata): boolean {
  return metadata.truncateBefore === LAST_REVISION;
}

/** The first revision that a reader may see, `$maxAge` aside. */
export function firstVisibleRevision(metadata: StreamMetadata, lastRevision: bigint): bigint {
  const byCount = metadata.maxCount === undefined ? 0n : lastRevision - metadata.maxCount + 1n;
  const first = byCount > metadata.truncateBefore ? byCount : metadata.truncateBefore;
  return first < 0n ? 0n : first;
}

/** Written out, because 2^63 - 1 does not survive a number. */
export const SOFT_DELETED = Buffer.from(`{"$tb":${LAST_REVISION}}`);

/** The same metadata with another `$tb`: what re-creates a soft-deleted stream. */
export function withTruncateBefore(data: Buffer, revision: bigint): Buffer {
  const text = data.toString('utf8');
  const mark = markMissingIn(text + JSON.stringify(parseObject(data)));
  // Numbers keep their digits: a whole number beyond 2^53 would not survive being parsed.
  const marked = text.replace(STRING_OR_NUMBER, (token) =>
    token.startsWith('"') ? token : `"${mark}${token}"`,
  );
  const changed = JSON.stringify({ ...parseObject(Buffer.from(marked)), $tb: `${mark}${revision}` });
  return Buffer.from(changed.replaceAll(new RegExp(`"${mark}([^"]*)"`, 'g'), '$1'));
}

const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;

function markMissingIn(text: string): string {
  let mark = '#';
  while (text.includes(mark)) mark += '#';
  return mark;
}

function parseObject(data: Buffer): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(data.toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
  } catch {
    return {};
  }
}

function wholeNumber(value: unknown): bigint | undefined {
  if (typeof value !== 'number' || !Number.isInteger(value)) return undefined;
  const whole = BigInt(value);
  // JSON.parse rounds 2^63 - 1 up.
  return whole > LAST_REVISION ? LAST_REVISION : whole;
}
