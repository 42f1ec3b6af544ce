import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AcknowledgedMark } from './acknowledged-mark.js';

let dir: string;
let file: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'rollcall-mark-'));
  file = join(dir, 'mark');
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

describe('the mark of what was acknowledged', () => {
  it('is 0 where there was none', () => {
    const mark = AcknowledgedMark.open(file);
    expect(mark.found).toBe(0n);
    mark.close();
  });

  it('says what was noted last', () => {
    const mark = AcknowledgedMark.open(file);
    for (const position of [64n, 9_000n, 2n ** 62n]) mark.note(position);
    mark.close();
    const again = AcknowledgedMark.open(file);
    expect(again.found).toBe(2n ** 62n);
    again.close();
  });

  it('leaves nothing behind when it is removed', () => {
    const mark = AcknowledgedMark.open(file);
    mark.note(64n);
    mark.remove();
    expect(readdirSync(dir)).toEqual([]);
  });

  it.each([
    ['cut', (text: string) => text.slice(0, 10)],
    ['emptied', () => ''],
    ['another number', (text: string) => text.replace('9', '8')],
    ['longer', (text: string) => `${text}\n`],
  ])('that was %s is damage', (_how, change) => {
    const mark = AcknowledgedMark.open(file);
    mark.note(9_000n);
    mark.close();
    writeFileSync(file, change(readFileSync(file, 'latin1')));
    expect(() => AcknowledgedMark.open(file)).toThrow(/damaged: .*mark holds no position/);
  });
});
