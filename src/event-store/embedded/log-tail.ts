import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

const TAIL_BYTES = 4_096;

/** The last line with something on it, or undefined. Reads the end of the file only. */
export function lastLine(file: string): string | undefined {
  const descriptor = openSync(file, 'r');
  try {
    const { size } = fstatSync(descriptor);
    const length = Math.min(size, TAIL_BYTES);
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
