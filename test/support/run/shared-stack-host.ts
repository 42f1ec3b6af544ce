/**
 * A program that keeps the stack of the black-box suites: one Postgres, one event store node, two servers. It stops
 * with Jest, however that ends, so an interrupted run leaves nothing behind.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeEnterable } from '../../../src/database/embedded/enterable.js';
import { ADMINISTRATOR, type Stack } from '../stack.js';
import { startEventStore } from '../process/event-store-process.js';
import { startPostgres } from '../process/postgres-process.js';
import { startServer } from '../process/server-process.js';
import { runDirectory } from './run-directory.js';

const home = join(runDirectory(), 'shared');
const ends: (() => Promise<unknown>)[] = [];

let stopping = false;

/** Servers first: they would complain about the loss of what they stand on. */
async function stop(): Promise<void> {
  if (stopping) return;
  stopping = true;
  for (const end of ends.reverse()) await end();
  if (!process.connected) rmSync(runDirectory(), { recursive: true, force: true }); // Jest was killed: nobody else will
  process.exit(0);
}

for (const event of ['disconnect', 'SIGTERM', 'SIGINT']) process.on(event, () => void stop());

async function start(): Promise<Stack> {
  makeEnterable(home); // the node would make it for itself alone
  const [postgres, eventStore] = await Promise.all([
    startPostgres(join(home, 'postgres')),
    startEventStore(join(home, 'eventstore')),
  ]);
  ends.push(() => Promise.all([postgres.stop(), eventStore.end('SIGTERM')]));
  const common = { eventStoreUrl: eventStore.url, databaseUrl: postgres.url };
  const [a, b] = await Promise.all([
    startServer({ ...common, name: 'server-a', env: { ROLLCALL_AUTH: 'none' } }),
    startServer({
      ...common,
      name: 'server-b',
      env: { ROLLCALL_AUTH: 'header', ROLLCALL_ADMINS: ADMINISTRATOR },
    }),
  ]);
  ends.push(() => Promise.all([a.end('SIGTERM'), b.end('SIGTERM')]));
  return { ...common, a: a.url, b: b.url, controlA: a.controlSocket, controlB: b.controlSocket };
}

process.send?.({ type: 'ready', stack: await start() });
