import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { api } from '../../support/http.js';
import { runProcess } from '../../support/process/started-process.js';
import { processesOn, startWhole, type WholeProcess } from '../../support/process/whole-process.js';
import { tempDirectory } from '../../support/run/run-directory.js';
import { unique } from '../../support/unique.js';
import { until } from '../../support/until.js';

let dataDir: string;
const started: WholeProcess[] = [];

beforeEach(() => {
  dataDir = tempDirectory('command-line');
});

afterEach(async () => {
  await Promise.all(started.splice(0).map((whole) => whole.end('SIGTERM')));
  expect(processesOn(dataDir)).toEqual([]);
  rmSync(dataDir, { recursive: true, force: true });
});

async function start(directory = dataDir): Promise<WholeProcess> {
  const whole = await startWhole(directory);
  started.push(whole);
  await until('the server is ready', async () => (await api(whole.url).get('/health')).status === 200);
  return whole;
}

async function stop(whole: WholeProcess): Promise<void> {
  started.splice(started.indexOf(whole), 1);
  await whole.end('SIGTERM');
}

const rollcall = (args: string[], directory = dataDir): ReturnType<typeof runProcess> =>
  runProcess('src/cli/main.js', { name: 'rollcall', args, env: { ROLLCALL_DATA_DIR: directory } });

async function makeSession(whole: WholeProcess, title: string): Promise<string> {
  const agent = await api(whole.url).post('/v1/agents', { name: unique('agent') });
  const session = await api(whole.url).post('/v1/sessions', { agent_id: agent.body['id'], title });
  return String(session.body['id']);
}

const titleOf = async (whole: WholeProcess, id: string): Promise<unknown> =>
  (await api(whole.url).get(`/v1/sessions/${id}`)).body['title'];

describe('rollcall rebuild --all', () => {
  it('finds the parts that a running server started, and starts them itself where none runs', async () => {
    const first = await start();
    const id = await makeSession(first, 'kept in the log');
    const beside = await rollcall(['rebuild', '--all']);
    expect([beside.code, beside.output]).toEqual([0, expect.stringContaining('new tables are in place')]);
    expect(await titleOf(first, id)).toBe('kept in the log');
    await stop(first);
    const alone = await rollcall(['rebuild', '--all']);
    expect([alone.code, alone.output]).toEqual([0, expect.stringContaining('new tables are in place')]);
    expect(processesOn(dataDir)).toEqual([]);
    expect(await titleOf(await start(), id)).toBe('kept in the log');
  });
});

describe('rollcall eventstore backup', () => {
  it('copies a running log, which elsewhere gives the same sessions', async () => {
    const first = await start();
    const id = await makeSession(first, 'backed up');
    const copy = join(dataDir, 'copy.db');
    const made = await rollcall(['eventstore', 'backup', copy]);
    expect([made.code, made.output]).toEqual([
      0,
      expect.stringMatching(/^\d+ events up to position \d+ are in /),
    ]);
    expect((await rollcall(['eventstore', 'backup', copy])).code).toBe(1);
    await makeSession(first, 'later');

    const elsewhere = join(dataDir, 'elsewhere');
    mkdirSync(join(elsewhere, 'eventstore'), { recursive: true, mode: 0o755 });
    renameSync(copy, join(elsewhere, 'eventstore', 'eventstore.db'));
    const second = await start(elsewhere);
    expect(await titleOf(second, id)).toBe('backed up');
    expect((await api(second.url).get('/v1/sessions')).body['data']).toHaveLength(1);
  });
});

it('a command that there is not shows how to use it and exits 2', async () => {
  const answer = await rollcall(['rebuild']);
  expect([answer.code, answer.output]).toEqual([2, expect.stringContaining('usage: rollcall')]);
});
