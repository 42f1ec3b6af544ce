import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** Absolute path of something in the checkout. */
export const inProject = (...parts) => join(root, ...parts);
