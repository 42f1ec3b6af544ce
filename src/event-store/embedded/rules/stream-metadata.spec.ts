import { describe, expect, it } from '@jest/globals';
import { LAST_REVISION } from './expected-state.js';
import {
  NO_METADATA,
  SOFT_DELETED,
  firstVisibleRevision,
  isMetastream,
  isSoftDeleted,
  metastreamOf,
  originalOf,
  parseStreamMetadata,
  withTruncateBefore,
} from './stream-metadata.js';

const parse = (value: unknown) => parseStreamMetadata(Buffer.from(JSON.stringify(value)));

describe('the metadata of a stream', () => {
  it('is read from its JSON keys', () => {
    expect(parse({ $maxCount: 3, $maxAge: 60, $tb: 7, own: 1 })).toEqual({
      maxCount: 3n,
      maxAgeSeconds: 60,
      truncateBefore: 7n,
    });
  });

  it.each([
    ['no JSON', Buffer.from('{"$tb":')],
    ['an array', Buffer.from('[1]')],
    ['null', Buffer.from('null')],
    ['values of the wrong kind', Buffer.from('{"$maxCount":"3","$maxAge":1.5,"$tb":null}')],
    ['values that limit nothing', Buffer.from('{"$maxCount":0,"$maxAge":-1}')],
  ])('is none when it is %s', (_name, data) => {
    expect(parseStreamMetadata(data)).toEqual(NO_METADATA);
  });

  it('knows a soft deletion although its number does not survive JSON.parse', () => {
    expect(SOFT_DELETED.toString()).toBe('{"$tb":9223372036854775807}');
    expect(parseStreamMetadata(SOFT_DELETED).truncateBefore).toBe(LAST_REVISION);
    expect(isSoftDeleted(parseStreamMetadata(SOFT_DELETED))).toBe(true);
    expect(isSoftDeleted(parse({ $tb: 2 ** 52 }))).toBe(false);
  });

  it('keeps its other keys when its truncation moves', () => {
    const moved = withTruncateBefore(Buffer.from('{"$maxCount":4,"own":{"a":1},"$tb":1}'), 9n);
    expect(JSON.parse(moved.toString())).toEqual({ $maxCount: 4, own: { a: 1 }, $tb: 9 });
  });

  it.each([
    ['{"own":9007199254740993,"$tb":5}', '{"own":9007199254740993,"$tb":9}'],
    [
      '{"own":[-1.50e+10,"12 \\"#34"],"in":{"$tb":7}}',
      '{"own":[-1.50e+10,"12 \\"#34"],"in":{"$tb":7},"$tb":9}',
    ],
    [String.raw`{"own":"\u0023 1"}`, '{"own":"# 1","$tb":9}'],
    ['no JSON', '{"$tb":9}'],
  ])('keeps each number of %s as it was written', (before, after) => {
    expect(withTruncateBefore(Buffer.from(before), 9n).toString()).toBe(after);
  });
});

describe('the first revision that a reader may see', () => {
  it.each([
    [{}, 9n, 0n],
    [{ $maxCount: 4 }, 9n, 6n],
    [{ $maxCount: 100 }, 9n, 0n],
    [{ $tb: 3 }, 9n, 3n],
    [{ $tb: 3, $maxCount: 4 }, 9n, 6n],
    [{ $tb: 8, $maxCount: 4 }, 9n, 8n],
    [{ $tb: 50 }, 9n, 50n],
  ])('with %j and last revision %s is %s', (metadata, last, first) => {
    expect(firstVisibleRevision(parse(metadata), last)).toBe(first);
  });
});

describe('a metastream', () => {
  it('is named by two dollars before the name', () => {
    expect(metastreamOf(Buffer.from('orders-1')).toString()).toBe('$$orders-1');
    expect(originalOf(Buffer.from('$$orders-1')).toString()).toBe('orders-1');
    expect(isMetastream(Buffer.from('$$a'))).toBe(true);
    expect(isMetastream(Buffer.from('$$'))).toBe(false);
    expect(isMetastream(Buffer.from('$users'))).toBe(false);
  });
});
