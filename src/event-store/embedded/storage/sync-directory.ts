import { closeSync, fsyncSync, openSync } from 'node:fs';

/** Brings the names in a directory to the disk: a file that is synced can still be lost with its name. */
export function syncDirectory(dir: string): void {
  // Windows opens no directories, and keeps names with its journal.
  if (process.platform === 'win32') return;
  const descriptor = openSync(dir, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
