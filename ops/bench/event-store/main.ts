import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { tmpdir } from 'node:os';
import { EventStoreDBClient } from '@eventstore/db-client';
import { appendRows, deliveryRows } from './append-rows.js';
import { print, type Row, save } from '../report.js';
import { ServerProcess } from './node-process.js';
import { fill, readRows } from './read-rows.js';
import { sizeRows } from './size-rows.js';

/** `--quick` is a smoke run; its figures say little. */
const quick = process.argv.includes('--quick');
const HISTORY = quick ? 20_000 : 200_000;
const LARGE = quick ? 50_000 : 1_000_000;
const SMALL = 10_000;
const SCALE = quick ? 0.3 : 1;

async function main(): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'rollcall-bench-log-'));
  try {
    const rows = [...(await servingRows(dir)), ...print(await sizeRows(dir, SMALL, LARGE))];
    save('event-store', rows, quick);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

async function servingRows(dir: string): Promise<Row[]> {
  const node = await ServerProcess.startNode(join(dir, 'node'));
  const echo = await ServerProcess.startMemoryServer();
  const client = EventStoreDBClient.connectionString(node.url);
  try {
    const appends = print(await appendRows({ client, echoPort: echo.port, dir, scale: SCALE }));
    const deliveries = print(await deliveryRows(client, SCALE));
    await fill(client, HISTORY);
    return [...appends, ...deliveries, ...print(await readRows(node, client, dir))];
  } finally {
    await client.dispose();
    await node.stop();
    await echo.stop();
  }
}

await main();
