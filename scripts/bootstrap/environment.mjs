import { existsSync } from 'node:fs';

/** Node's arguments that read this file of variables; none without the file. What is set already wins over it. */
export function environmentArguments(file) {
  return existsSync(file) ? [`--env-file=${file}`] : [];
}
