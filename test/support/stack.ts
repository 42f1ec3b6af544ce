import { readFileSync } from 'node:fs';

/** The names and addresses of the one stack that all black-box suites share. */
export interface Stack {
  /** Base URL of the server with ROLLCALL_AUTH=none. */
  readonly a: string;
  /** Base URL of the server with ROLLCALL_AUTH=header, on the same log and database. */
  readonly b: string;
  readonly eventStoreUrl: string;
  readonly databaseUrl: string;
  /** Control sockets of the two servers. The clock and faults are everybody's here: use an exclusive stack for them. */
  readonly controlA: string;
  readonly controlB: string;
}

/** Of server B. */
export const ADMINISTRATOR = 'admin@example.test';

export const STACK_VARIABLE = 'ROLLCALL_TEST_STACK';

let known: Stack | undefined;

export function stack(): Stack {
  const file = process.env[STACK_VARIABLE];
  if (file === undefined)
    throw new Error(
      `${STACK_VARIABLE} is not set: only the project "blackbox" of jest.config.js has a stack`,
    );
  known ??= JSON.parse(readFileSync(file, 'utf8')) as Stack;
  return known;
}
