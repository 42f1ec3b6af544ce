import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

const TAIL_BYTES = 4_096;

/** The last line with something on it from byte `from` on, or undefined. Reads the end of the file only. */
export function lastLine(file: string, from = 0): string | undefined {
  const descriptor = openSync(file, 'r');
  try {
    const { size } = fstatSync(descriptor);
    const length = Math.max(0, Math.min(size - from, TAIL_BYTES));
    const tail = Buffer.alloc(length);
    readSync(descriptor, tail, 0, length, size - length);
    return tail
      .toString('utf8')
      .split('\n')
      .findLast((line) => line.trim() !== '');
  } finally {
    closeSync(descriptor);
  }
}
