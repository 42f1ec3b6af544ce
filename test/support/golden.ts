import { expect } from '@jest/globals';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

const UPDATE = process.env['UPDATE_GOLDEN'] === '1';

/** Compares with what a file holds: JSON, or text when the value is a text. With UPDATE_GOLDEN=1 the file is written anew. */
export function expectGolden(file: string, value: unknown): void {
  if (UPDATE) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, typeof value === 'string' ? value : `${JSON.stringify(value, null, 2)}\n`);
    return;
  }
  if (!existsSync(file))
    throw new Error(`${file} is missing: run this spec with UPDATE_GOLDEN=1 and read what it writes`);
  const golden = readFileSync(file, 'utf8');
  if (typeof value === 'string') expect(value).toBe(golden);
  else expect(value).toEqual(JSON.parse(golden));
}
