#!/usr/bin/env node
import { parseArgs } from 'node:util';
import { ConfigError, loadConfig } from '../config/config.js';
import { comesFromEventStoreClient } from '../process/client-rejection.js';
import { consoleLog } from '../process/console-log.js';
import { type Layers, stopLayers } from '../process/layers.js';
import { findStores } from '../process/stores.js';
import { type Command, type CommandArguments, UsageError } from './command.js';
import { commands, findCommand, usageOf } from './commands.js';

const HELP = { help: { type: 'boolean', short: 'h' } } as const;

async function main(argv: readonly string[]): Promise<number> {
  const found = findCommand(argv);
  if (!found) {
    const asked = ['--help', '-h', 'help'].includes(argv[0] ?? '');
    (asked ? process.stdout : process.stderr).write(`${usageOf(commands)}\n`);
    return asked ? 0 : 2;
  }
  const { command, rest } = found;
  try {
    const args = parse(command, rest);
    if (args.values['help'] !== true) return await run(command, args);
    process.stdout.write(`${usageOf([command])}\n`);
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(
      `${error.message === '' ? '' : `rollcall: ${error.message}\n`}${usageOf([command])}\n`,
    );
    return 2;
  }
}

function parse(command: Command, rest: readonly string[]): CommandArguments {
  try {
    const { positionals, values } = parseArgs({
      args: [...rest],
      allowPositionals: true,
      options: { ...command.options, ...HELP },
    });
    return { positionals, values: values };
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

async function run(command: Command, args: CommandArguments): Promise<number> {
  const config = loadConfig(process.env);
  const log = consoleLog('warn');
  const layers: Layers = [];
  const cancelled = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => cancelled.abort());
  try {
    const stores = (): ReturnType<typeof findStores> => findStores(config, log, layers);
    return await command.run({ config, log, signal: cancelled.signal, stores }, args);
  } finally {
    await stopLayers(layers, log);
  }
}

// Left alone, Node would exit with 1 for it, which is an answer of some commands.
process.on('unhandledRejection', (reason) => {
  if (comesFromEventStoreClient(reason)) return;
  process.stderr.write(`rollcall: ${String(reason)}\n`);
  process.exit(2);
});

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  const text = error instanceof Error ? error.message : String(error);
  process.stderr.write(`rollcall: ${text.split('\n')[0] ?? ''}\n`);
  process.exitCode = error instanceof ConfigError ? 2 : 1;
}
