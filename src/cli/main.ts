#!/usr/bin/env node
import { parseArgs } from 'node:util';
import { ConfigError, loadConfig } from '../config/config.js';
import { withDatabase } from '../process/application.js';
import { consoleLog } from '../process/console-log.js';
import { dropReadModels } from './rebuild.js';

const USAGE = `usage: rollcall rebuild --all

  rebuild --all   drop the read models; the next start of the server fills them from the log

It reads the same environment as the server: DATABASE_URL, or the embedded Postgres under ROLLCALL_DATA_DIR.`;

async function main(argv: string[]): Promise<number> {
  const { positionals, values } = parseArgs({
    args: argv,
    allowPositionals: true,
    options: { all: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
  });
  if (values.help) return say(USAGE, 0);
  if (positionals.length !== 1 || positionals[0] !== 'rebuild' || !values.all) return say(USAGE, 2);
  const config = loadConfig(process.env);
  await withDatabase(config, consoleLog('warn'), dropReadModels);
  return say('The read models are dropped; the next start fills them from the log.', 0);
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
