import { randomUUID } from 'node:crypto';
import { writeFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ExclusiveStack } from '../exclusive-stack.js';
import { launch } from '../process/launched.js';
import { projectDirectory } from '../process/started-process.js';

/** An event of any bytes, as only a tool beside the protocol could write it. */
export interface HandWritten {
  readonly stream: string;
  readonly type: string;
  readonly data: string;
  readonly metadata: string;
}

const SCRIPT = `
  import { readFileSync } from 'node:fs';
  const [, module, directory, file] = process.argv;
  const { openLog } = await import(module);
  const log = openLog(directory);
  for (const { id, stream, type, data, metadata } of JSON.parse(readFileSync(file, 'utf8'))) {
    const event = { id, type, isJson: true, data: Buffer.from(data), metadata: Buffer.from(metadata) };
    await log.write({ kind: 'append', stream: Buffer.from(stream), expected: { kind: 'any' }, events: [event] });
  }
  log.close();`;

/** Stops the event store, writes into its file past every check and limit of the protocol, and starts it again. */
export async function writeByHand(stack: ExclusiveStack, events: readonly HandWritten[]): Promise<void> {
  await stack.killEventStore();
  const directory = stack.eventStoreDirectory;
  const file = join(directory, 'by-hand.json');
  writeFileSync(file, JSON.stringify(events.map((event) => ({ id: randomUUID(), ...event }))));
  const module = pathToFileURL(join(projectDirectory(), 'dist/src/event-store/embedded/data-file.js')).href;
  const script = launch(['--input-type=module', '-e', SCRIPT, module, directory, file], { name: 'by-hand' });
  const { code } = await script.exited;
  rmSync(file);
  await stack.bringEventStore();
  if (code !== 0) throw new Error(`writing by hand failed: ${script.output()}`);
}
