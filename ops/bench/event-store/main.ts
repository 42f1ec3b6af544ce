import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { tmpdir } from 'node:os';
import { EventStoreDBClient } from '@eventstore/db-client';
import { appendRows, deliveryRows } from './append-rows.js';
import type { Row } from './measure.js';
import { ServerProcess } from './node-process.js';
import { fill, readRows } from './read-rows.js';
import { sizeRows } from './size-rows.js';

/** `--quick` is a smoke run; its figures say little. */
const quick = process.argv.includes('--quick');
const HISTORY = quick ? 20_000 : 200_000;
const LARGE = quick ? 50_000 : 1_000_000;
const SMALL = 10_000;
const SCALE = quick ? 0.3 : 1;
const RESULTS = 'ops/bench/results';

async function main(): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'rollcall-bench-log-'));
  try {
    const rows = [...(await servingRows(dir)), ...print(await sizeRows(dir, SMALL, LARGE))];
    mkdirSync(RESULTS, { recursive: true });
    const file = join(RESULTS, 'event-store.json');
    const machine = { node: process.version, cpus: cpus().length, at: new Date().toISOString(), quick };
    writeFileSync(file, `${JSON.stringify({ machine, rows }, undefined, 2)}\n`);
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

/** At once: a long run that is stopped has said what it knows. */
function print(rows: Row[]): Row[] {
  for (const line of rows) process.stdout.write(`${describe(line)}\n`);
  return rows;
}

function describe({ what, value, unit, limit, ratio }: Row): string {
  const beside = limit === undefined ? '' : `   ${ratio} of ${limit.value} (${limit.what})`;
  return `${what.padEnd(52)} ${String(value).padStart(9)} ${unit.padEnd(8)}${beside}`;
}

await main();
