import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import {
  type PostgresOptions,
  type PostgresProcess,
  startPostgres,
} from '../../../test/support/process/postgres-process.js';
import { tempDirectory } from '../../../test/support/run/run-directory.js';
import { until } from '../../../test/support/until.js';

/** Everything here starts and kills real Postgres processes, each on a directory of its own. */
let dir: string;
const started: PostgresProcess[] = [];

beforeEach(() => {
  dir = tempDirectory('pg');
});

afterEach(async () => {
  await Promise.all(started.splice(0).map((postgres) => postgres.stop()));
  rmSync(dir, { recursive: true, force: true });
});

async function start(options: PostgresOptions = {}): Promise<PostgresProcess> {
  const postgres = await startPostgres(dir, options);
  started.push(postgres);
  return postgres;
}

async function query<T extends object>(url: string, sql: string): Promise<T[]> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<T>(sql)).rows;
  } finally {
    await client.end();
  }
}

const remember = (url: string): Promise<unknown> =>
  query(url, 'CREATE TABLE kept (n int); INSERT INTO kept VALUES (1)');
const remembered = async (url: string): Promise<number | undefined> =>
  (await query<{ n: number }>(url, 'SELECT n FROM kept'))[0]?.n;
const isGone = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return false;
  } catch {
    return true;
  }
};

describe('an embedded Postgres', () => {
  it('keeps its data over a clean stop and knows letters beyond ASCII', async () => {
    const first = await start();
    await remember(first.url);
    const [row] = await query<{ like: boolean }>(first.url, `SELECT 'Ärger' ILIKE 'ä%' AS like`);
    expect(row).toEqual({ like: true });
    const pid = first.pid();
    await first.stop();
    expect(isGone(pid)).toBe(true);
    expect(existsSync(join(dir, 'data', 'postmaster.pid'))).toBe(false);
    expect(await remembered((await start()).url)).toBe(1);
  });

  it('asks for a password, which only the owner can read', async () => {
    const { url } = await start();
    const wrong = new URL(url);
    wrong.password = 'guess';
    await expect(query(wrong.href, 'SELECT 1')).rejects.toThrow(/password authentication failed/);
    expect(statSync(join(dir, 'password')).mode & 0o777).toBe(0o600);
  });

  it('is started again on the same port when it is killed', async () => {
    const postgres = await start({ durable: true });
    await remember(postgres.url);
    const before = postgres.pid();
    process.kill(before, 'SIGKILL');
    const n = await until('Postgres to be back', () => remembered(postgres.url), {
      within: 20_000,
      every: 50,
    });
    expect(n).toBe(1);
    expect(postgres.pid()).not.toBe(before);
  });

  it('stops cleanly while it is being started again', async () => {
    const postgres = await start();
    process.kill(postgres.pid(), 'SIGKILL');
    await until('the watcher to notice', () => postgres.host.output().includes('starting it again'));
    expect(await postgres.host.end('SIGTERM')).toEqual({ code: 0, signal: null });
  });

  it('takes over from a Postgres whose parent was killed', async () => {
    const first = await start();
    await remember(first.url);
    const orphan = first.pid();
    await first.host.end('SIGKILL');
    expect(isGone(orphan)).toBe(false);
    const second = await start();
    expect(second.host.output()).toContain(`(pid ${orphan}) that an earlier run left behind`);
    expect(isGone(orphan)).toBe(true);
    expect(await remembered(second.url)).toBe(1);
  });

  it('takes over also when the directory was moved meanwhile', async () => {
    const first = await start({ durable: true });
    await remember(first.url);
    const orphan = first.pid();
    await first.host.end('SIGKILL');
    const moved = `${dir}-moved`;
    renameSync(dir, moved);
    dir = moved;
    expect(await remembered((await start()).url)).toBe(1);
    expect(isGone(orphan)).toBe(true);
  });

  it('recovers when both it and its parent were killed', async () => {
    const first = await start({ durable: true });
    await remember(first.url);
    const pid = first.pid();
    process.kill(first.host.pid, 'SIGKILL');
    process.kill(pid, 'SIGKILL');
    await first.host.exited;
    expect(existsSync(join(dir, 'data', 'postmaster.pid'))).toBe(true);
    expect(await remembered((await start()).url)).toBe(1);
  });

  it('is not kept from starting by a stale postmaster.pid that names somebody else', async () => {
    await (await start()).stop();
    const stale = [process.pid, join(dir, 'data'), 1, 5432, '', '127.0.0.1', '', 'ready'].join('\n');
    writeFileSync(join(dir, 'data', 'postmaster.pid'), `${stale}\n`);
    const second = await start();
    expect(second.host.output()).toContain(`names process ${process.pid}, which is not this Postgres`);
    expect(isGone(process.pid)).toBe(false);
  });

  it('makes the database anew when making it was cut short', async () => {
    mkdirSync(join(dir, 'data.new', 'base'), { recursive: true });
    writeFileSync(join(dir, 'data.new', 'PG_VERSION'), '18\n');
    const { url } = await start();
    await remember(url);
    expect(existsSync(join(dir, 'data.new'))).toBe(false);
    expect(existsSync(join(dir, 'password.init'))).toBe(false);
  });

  it('sets a new password when the file with the old one is lost', async () => {
    const first = await start();
    await remember(first.url);
    await first.stop();
    rmSync(join(dir, 'password'));
    const second = await start();
    expect(second.url).not.toBe(first.url);
    expect(await remembered(second.url)).toBe(1);
  });

  it('refuses data of another version, and names both', async () => {
    mkdirSync(join(dir, 'data'));
    writeFileSync(join(dir, 'data', 'PG_VERSION'), '16\n');
    await expect(start()).rejects.toThrow(
      /made by Postgres 16 and this is Postgres 18; .* or set DATABASE_URL/,
    );
    expect(readFileSync(join(dir, 'data', 'PG_VERSION'), 'utf8')).toBe('16\n');
  });

  it('refuses a directory that another process uses', async () => {
    const first = await start();
    await expect(start()).rejects.toThrow(
      new RegExp(`in use by another Rollcall \\(pid ${first.host.pid}\\)`),
    );
    expect(isGone(first.pid())).toBe(false);
  });
});

describe('below a directory that nobody else may enter', () => {
  it('shelters the data of root elsewhere and finds it again; an ordinary user needs no shelter', async () => {
    const outside = tempDirectory('shelter');
    const shelter = join(outside, 'own');
    const inner = join(dir, 'postgres');
    const asRoot = process.getuid?.() === 0;
    try {
      chmodSync(dir, 0o700);
      const first = await startPostgres(inner, { shelters: [shelter] });
      started.push(first);
      await remember(first.url);
      expect(first.host.output().includes(`its data goes to ${shelter}`)).toBe(asRoot);
      expect(existsSync(shelter)).toBe(asRoot);
      await first.stop();
      chmodSync(dir, 0o711);
      const second = await startPostgres(inner, { shelters: [shelter] });
      started.push(second);
      expect(await remembered(second.url)).toBe(1);
      await second.stop();
    } finally {
      rmSync(outside, { recursive: true, force: true });
    }
  });
});
