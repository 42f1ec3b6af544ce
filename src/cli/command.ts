import type { ParseArgsConfig } from 'node:util';
import type { Config } from '../config/config.js';
import type { EmbeddedLog } from '../database/embedded/embedded-log.js';
import type { Stores } from '../process/addresses.js';

export interface CommandContext {
  readonly config: Config;
  readonly log: EmbeddedLog;
  /** Aborted by SIGINT and SIGTERM: what has been begun is ended in order. */
  readonly signal: AbortSignal;
  /** The configured stores, those of a running server, or embedded ones that live as long as the command. */
  readonly stores: () => Promise<Stores>;
}

export interface CommandArguments {
  readonly positionals: readonly string[];
  readonly values: Readonly<Record<string, string | boolean | undefined>>;
}

/** One thing that `rollcall` can do. */
export interface Command {
  /** The words that call it, e.g. `['eventstore', 'backup']`. */
  readonly words: readonly string[];
  /** What follows the words, e.g. `<file>`. */
  readonly synopsis: string;
  /** Lines of help. */
  readonly help: readonly string[];
  readonly options: NonNullable<ParseArgsConfig['options']>;
  /** Gives the exit status: 0 done, 1 failed or found something, 2 could not run. Throws `UsageError`. */
  run(context: CommandContext, args: CommandArguments): Promise<number>;
}

/** The command was called in a way that it does not have. */
export class UsageError extends Error {}

export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
