import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readPidFile } from '../../../src/event-store/embedded/pid-file.js';
import { EventLog } from '../../../src/event-store/embedded/storage/event-log.js';
import { exited, temporaryDirectory } from '../event-store-under-test.js';
import { until } from '../recorded-subscription.js';
import { runScript } from './built-module.js';

const ENTRY = 'dist/src/event-store/embedded/process.js';

let dir: string;
beforeEach(() => {
  dir = temporaryDirectory();
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** Supervises a start with the given options and prints the lines that were logged, and the error if it failed. */
async function supervise(options: string) {
  const parent = runScript(
    'supervisor',
    `const lines = [];
     const log = (line) => { lines.push(line); };
     let error;
     try {
       const node = await embedded.superviseEmbeddedEventStore({ dir: ${JSON.stringify(dir)}, log, ${options} });
       await node.stop();
     } catch (failure) { error = failure.message; }
     print({ lines, error });`,
  );
  const result = (await parent.next()) as { lines: string[]; error?: string };
  await exited(parent.child);
  return result;
}

/** Processes that run a node on the directory. */
function nodesOn(directory: string): string[] {
  const commandOf = (pid: string): string => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ');
    } catch {
      return '';
    }
  };
  return readdirSync('/proc').filter((pid) => commandOf(pid).includes(`process.js --dir ${directory} `));
}

/** A start that reads this write-ahead log waits for a writer that never comes. */
function blockStart(): void {
  execFileSync('mkfifo', [join(dir, 'eventstore.db-wal')]);
}

async function fill(events: number): Promise<void> {
  const log = EventLog.open(join(dir, 'eventstore.db'), Date.now);
  const event = () => ({ id: randomUUID(), type: 'T', isJson: true, metadata: Buffer.alloc(0) });
  for (let written = 0; written < events; written += 2_000) {
    const batch = Array.from({ length: 2_000 }, () => ({ ...event(), data: Buffer.from('{}') }));
    const stream = Buffer.from(`s${written % 7}`);
    await log.write({ kind: 'append', stream, expected: { kind: 'any' }, events: batch });
  }
  log.close();
}

describe('the start of a supervised node', () => {
  it('that checks a long log after damage says how far it is, and ends well', async () => {
    await fill(150_000);
    writeFileSync(join(dir, 'eventstore.damaged'), 'a record\n');
    const { lines, error } = await supervise('');
    expect(error).toBeUndefined();
    const parts = lines
      .flatMap((line) => /after damage was found, (\d+) %$/.exec(line)?.[1] ?? [])
      .map(Number);
    expect(parts.length).toBeGreaterThan(0);
    expect(parts).toEqual(parts.toSorted((a, b) => a - b));
    expect(lines.at(-1)).toMatch(/^event store: pid \d+ on port \d+$/);
  });

  it('stops an orphan that is itself still starting', async () => {
    await fill(150_000);
    writeFileSync(join(dir, 'eventstore.damaged'), 'a record\n');
    const orphan = spawn(process.execPath, [resolve(ENTRY), '--dir', dir, '--port', '0'], {
      stdio: 'ignore',
    });
    await until('the orphan to own the directory', () => readPidFile(dir)?.pid === orphan.pid);
    expect(readPidFile(dir)?.port).toBe(0);
    const { lines, error } = await supervise('');
    expect(error).toBeUndefined();
    expect(lines[0]).toContain(`stopping pid ${orphan.pid},`);
    await exited(orphan);
  });

  it('that hangs is given up, and the process is gone', async () => {
    blockStart();
    const { error } = await supervise('silentForMs: 2_000');
    expect(error).toBe('the node did not start: it said nothing for 2000 ms');
    await until('the node to be gone', () => nodesOn(dir).length === 0);
  });

  it('can be given up, and the process is gone', async () => {
    blockStart();
    const { error } = await supervise('signal: AbortSignal.timeout(300)');
    expect(error).toBe('the node did not start: its start was given up');
    await until('the node to be gone', () => nodesOn(dir).length === 0);
  });

  it('writes one line to the log of the node, and no warning', async () => {
    await supervise('');
    expect(readFileSync(join(dir, 'eventstore.log'), 'utf8')).toMatch(/^\{"ready":true,.*\}\n$/);
  });

  it('leaves certificates alone, which it has no use for', async () => {
    const before = process.env['NODE_EXTRA_CA_CERTS'];
    process.env['NODE_EXTRA_CA_CERTS'] = join(dir, 'no-such-file.pem');
    try {
      await supervise('');
    } finally {
      if (before === undefined) delete process.env['NODE_EXTRA_CA_CERTS'];
      else process.env['NODE_EXTRA_CA_CERTS'] = before;
    }
    expect(readFileSync(join(dir, 'eventstore.log'), 'utf8')).not.toContain('certs');
  });
});
