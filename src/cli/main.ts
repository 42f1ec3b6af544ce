#!/usr/bin/env node
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ConfigError, loadConfig } from '../config/config.js';
import { backupEmbeddedEventStore } from '../event-store/embedded/backup.js';
import { withDatabase } from '../process/application.js';
import { consoleLog } from '../process/console-log.js';
import { dropReadModels } from './rebuild.js';

const USAGE = `usage: rollcall <command>

  rebuild --all              drop the read models; the next start of the server fills them from the log
  eventstore backup <file>   copy the embedded event store, also while it runs, into a file that does not exist yet;
                             to restore, put the copy as eventstore.db into an empty <data directory>/eventstore

It reads the same environment as the server: DATABASE_URL, or the embedded parts under ROLLCALL_DATA_DIR.`;

async function main(argv: string[]): Promise<number> {
  const { positionals, values } = parseArgs({
    args: argv,
    allowPositionals: true,
    options: { all: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
  });
  if (values.help) return say(USAGE, 0);
  const [command, action, file, ...surplus] = positionals;
  if (command === 'rebuild' && values.all && action === undefined) return rebuildAll();
  if (command === 'eventstore' && action === 'backup' && file !== undefined && surplus.length === 0)
    return backup(file);
  return say(USAGE, 2);
}

async function rebuildAll(): Promise<number> {
  await withDatabase(loadConfig(process.env), consoleLog('warn'), dropReadModels);
  return say('The read models are dropped; the next start fills them from the log.', 0);
}

async function backup(file: string): Promise<number> {
  const { dataDir, eventStoreUrl } = loadConfig(process.env);
  if (eventStoreUrl !== null)
    return say('EVENTSTORE_URL names a server of its own: back it up with its own means', 1);
  const { events, position } = await backupEmbeddedEventStore(join(dataDir, 'eventstore'), resolve(file));
  return say(`${events} events up to position ${position} are in ${file}.`, 0);
}

function say(text: string, code: number): number {
  (code === 0 ? process.stdout : process.stderr).write(`${text}\n`);
  return code;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  const text = error instanceof Error ? error.message : String(error);
  process.stderr.write(`rollcall: ${text.split('\n')[0] ?? ''}\n`);
  process.exitCode = error instanceof ConfigError ? 2 : 1;
}
