import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { EventStoreDBClient } from '@eventstore/db-client';

/** The server that the suite talks to: the one at EVENTSTORE_URL, else a node of our own in a fresh directory. */
export interface EventStoreUnderTest {
  readonly url: string;
  readonly client: EventStoreDBClient;
  /** Another client of the same server, closed with it. */
  connect(parameters?: string): EventStoreDBClient;
  stop(): Promise<void>;
}

export interface EmbeddedNodeProcess {
  readonly port: number;
  readonly pid: number;
  readonly url: string;
  readonly child: ChildProcess;
}

const ENTRY = resolve('dist/src/event-store/embedded/process.js');

/** Starts the built node as a process. Rejects with what it wrote to stderr when it does not get ready. */
export async function spawnEmbeddedNode(
  dir: string,
  port = 0,
  nodeOptions: readonly string[] = [],
  /** Given: the node is started with an IPC channel, as a supervisor does, and this is called at once. */
  spawned?: (child: ChildProcess) => void,
): Promise<EmbeddedNodeProcess> {
  if (!existsSync(ENTRY)) throw new Error(`${ENTRY} is missing: build the project first`);
  const child = spawn(process.execPath, [...nodeOptions, ENTRY, '--dir', dir, '--port', String(port)], {
    stdio: ['ignore', 'pipe', 'pipe', ...(spawned === undefined ? [] : (['ipc'] as const))],
    env: { ...process.env, NODE_OPTIONS: '', NODE_ENV: 'test' },
  });
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new Error('the node was started without pipes');
  spawned?.(child);
  let complaint = '';
  stderr.on('data', (chunk: Buffer) => {
    complaint += chunk.toString();
  });
  const line = await new Promise<string | undefined>((settle) => {
    createInterface({ input: stdout }).once('line', settle);
    child.once('close', () => settle(undefined));
  });
  if (line === undefined) throw new Error(complaint.trim());
  const ready = JSON.parse(line) as { port: number; pid: number };
  return { port: ready.port, pid: ready.pid, url: `esdb://127.0.0.1:${ready.port}?tls=false`, child };
}

export function exited(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((settle) => child.once('exit', () => settle()));
}

export function temporaryDirectory(): string {
  return mkdtempSync(join(tmpdir(), 'rollcall-event-store-'));
}

export function connectTo(url: string, parameters = ''): EventStoreDBClient {
  const separator = url.includes('?') ? '&' : '?';
  return EventStoreDBClient.connectionString(parameters === '' ? url : `${url}${separator}${parameters}`);
}

export async function startEventStore(): Promise<EventStoreUnderTest> {
  const given = process.env['EVENTSTORE_URL'];
  if (given !== undefined && given !== '') return underTest(given, () => Promise.resolve());
  const dir = temporaryDirectory();
  const node = await spawnEmbeddedNode(dir);
  return underTest(node.url, async () => {
    node.child.kill('SIGTERM');
    await exited(node.child);
    rmSync(dir, { recursive: true, force: true });
  });
}

function underTest(url: string, stopServer: () => Promise<void>): EventStoreUnderTest {
  const clients: EventStoreDBClient[] = [];
  const connect = (parameters = ''): EventStoreDBClient => {
    const client = connectTo(url, parameters);
    clients.push(client);
    return client;
  };
  return {
    url,
    client: connect(),
    connect,
    stop: async () => {
      await Promise.all(clients.map((client) => client.dispose()));
      await stopServer();
    },
  };
}
