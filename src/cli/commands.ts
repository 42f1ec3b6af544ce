import type { Command } from './command.js';
import { eventstoreBackup } from './eventstore-backup.js';
import { projectionsParked } from './projections-parked.js';
import { projectionsRetry } from './projections-retry.js';
import { rebuild } from './rebuild.js';

export const commands: readonly Command[] = [rebuild, projectionsParked, projectionsRetry, eventstoreBackup];

/** The command whose words begin the arguments, with what follows them. */
export function findCommand(argv: readonly string[]): { command: Command; rest: readonly string[] } | null {
  const command = commands.find(({ words }) => words.every((word, index) => argv[index] === word));
  return command ? { command, rest: argv.slice(command.words.length) } : null;
}

export function usageOf(shown: readonly Command[]): string {
  const entries = shown.map(({ words, synopsis, help }) =>
    [`  ${[...words, synopsis].join(' ').trimEnd()}`, ...help.map((line) => `      ${line}`)].join('\n'),
  );
  return [
    'usage: rollcall <command>',
    ...entries,
    'It reads the same environment as the server: EVENTSTORE_URL and DATABASE_URL, or the embedded parts under\nROLLCALL_DATA_DIR, also while a server runs on them.',
  ].join('\n\n');
}
