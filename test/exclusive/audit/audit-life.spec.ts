import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { auditProcess, heldAudit, holdAudits, scratchLeft } from '../../support/audit/held-audit.js';
import { type AuditBody, onStores, rollcallAudit } from '../../support/audit/rollcall-audit.js';
import { plantForest } from '../../support/chaos/burst.js';
import { ExclusiveStack } from '../../support/exclusive-stack.js';
import { api } from '../../support/http.js';
import type { Launched } from '../../support/process/launched.js';
import { launchScript } from '../../support/process/started-process.js';
import type { ServerProcess } from '../../support/process/server-process.js';
import { until } from '../../support/until.js';

jest.setTimeout(180_000);

let stack: ExclusiveStack;
let server: ServerProcess;
let other: ServerProcess;
let hold: { release(): Promise<void> };

beforeAll(async () => {
  stack = await ExclusiveStack.start();
  server = await stack.startServer();
  other = await stack.startServer();
  await plantForest(server.url, 2, 2);
});

afterAll(() => stack.dispose());

beforeEach(async () => {
  hold = await holdAudits(stack.databaseUrl);
});

afterEach(() => hold.release());

function launchAudit(): Launched {
  return launchScript('src/cli/main.js', { name: 'audit', args: ['audit'], env: onStores(stack) });
}

async function begin(at: ServerProcess): Promise<string> {
  const { status, body } = await api(at.url).post('/v1/audits');
  expect([status, body['state']]).toEqual([202, 'running']);
  await heldAudit(stack.databaseUrl);
  return body['id'] as string;
}

async function stateOf(id: string, at: ServerProcess): Promise<[string, unknown]> {
  const { body } = await api(at.url).get<AuditBody & { error: string | null }>(`/v1/audits/${id}`);
  return [body.state, body.error];
}

const nothingLeft = (): Promise<unknown> =>
  until('nothing to be left of the audit', async () => (await scratchLeft(stack.databaseUrl)).length === 0, {
    within: 10_000,
    every: 50,
  });

/** The next audit tidies up behind one that could not. */
async function nextIsClean(): Promise<void> {
  await hold.release();
  await until(
    'the lease of the lost audit to run out',
    async () => (await rollcallAudit(stack, 'sessions')).code === 0,
    { within: 90_000 },
  );
  expect(await scratchLeft(stack.databaseUrl)).toEqual([]);
}

describe('rollcall audit', () => {
  it('is refused while another runs, here or in a server', async () => {
    const first = launchAudit();
    await heldAudit(stack.databaseUrl);
    const second = await rollcallAudit(stack);
    expect([second.code, second.output]).toEqual([
      2,
      expect.stringMatching(/the audit could not run: another audit runs: audit_[0-9a-f]{32}/),
    ]);
    expect((await api(server.url).post('/v1/audits')).status).toBe(409);
    await hold.release();
    expect(await first.exited).toMatchObject({ code: 0 });
    await nothingLeft();
  });

  it('is cancelled by SIGINT and leaves nothing behind', async () => {
    const audit = launchAudit();
    await heldAudit(stack.databaseUrl);
    expect(await audit.end('SIGINT')).toMatchObject({ code: 2 });
    expect(audit.output()).toContain('it was cancelled');
    expect(await scratchLeft(stack.databaseUrl)).toEqual([]);
  });

  it('that is killed leaves scratch tables, which the next one drops', async () => {
    const audit = launchAudit();
    await heldAudit(stack.databaseUrl);
    await audit.end('SIGKILL');
    expect((await scratchLeft(stack.databaseUrl)).length).toBe(3);
    await nextIsClean();
  });
});

describe('an audit in a server', () => {
  it('ends and leaves nothing when another node cancels it', async () => {
    const id = await begin(server);
    expect((await api(other.url).delete(`/v1/audits/${id}`)).body).toMatchObject({ state: 'cancelled' });
    await nothingLeft();
    expect(await stateOf(id, server)).toEqual(['cancelled', 'it was cancelled']);
  });

  it('that is cancelled is over before another one begins, however often that is asked for', async () => {
    const id = await begin(server);
    const first = await auditProcess(server.pid);
    process.kill(first, 'SIGSTOP');
    await api(server.url).delete(`/v1/audits/${id}`);
    const asked = await Promise.all(Array.from({ length: 5 }, () => api(server.url).post('/v1/audits')));
    const isEnding = [409, expect.stringContaining('Another audit is ending')];
    expect(asked.map(({ status, text }) => [status, text])).toEqual(Array(5).fill(isEnding));
    process.kill(first, 'SIGCONT');
    await until('its process to be gone', () => !isAlive(first));
    expect(await stateOf(id, server)).toEqual(['cancelled', 'it was cancelled']);
    await nothingLeft();
  });

  it('has failed at once when its process is killed, and the next one drops what it left', async () => {
    const id = await begin(server);
    process.kill(await auditProcess(server.pid), 'SIGKILL');
    await until('the audit to have failed', async () => (await stateOf(id, other))[0] === 'failed');
    expect(await stateOf(id, other)).toEqual(['failed', 'the process that ran it ended (SIGKILL)']);
    expect((await scratchLeft(stack.databaseUrl)).length).toBe(2);
    await nextIsClean();
  });

  it('ends with its server, however that ends', async () => {
    for (const [signal, error] of [
      ['SIGKILL', 'the server that ran it is gone'],
      ['SIGTERM', 'the server that ran it was stopped'],
    ] as const) {
      const doomed = await stack.startServer();
      const id = await begin(doomed);
      const process = await auditProcess(doomed.pid);
      expect(await doomed.end(signal)).toMatchObject(signal === 'SIGTERM' ? { code: 0 } : { signal });
      await nothingLeft();
      expect(await stateOf(id, other)).toEqual(['failed', error]);
      await until('the process to be gone', () => !isAlive(process));
    }
  });

  it('that is lost with everything that knew of it has failed when its lease has run out', async () => {
    const doomed = await stack.startServer();
    const id = await begin(doomed);
    const child = await auditProcess(doomed.pid);
    process.kill(child, 'SIGSTOP');
    await doomed.end('SIGKILL');
    process.kill(child, 'SIGKILL');
    expect((await stateOf(id, other))[0]).toBe('running');
    await until('its lease to run out', async () => (await stateOf(id, other))[0] === 'failed', {
      within: 60_000,
      every: 250,
    });
    expect(await stateOf(id, other)).toEqual(['failed', 'the process that ran it is gone']);
    await nextIsClean();
  });
});

it('an audit whose database goes away ends and says that it could not run', async () => {
  const audit = launchAudit();
  await heldAudit(stack.databaseUrl);
  await stack.stopPostgres();
  const patience = setTimeout(() => audit.child.kill('SIGKILL'), 30_000);
  expect(await audit.exited).toEqual({ code: 2, signal: null });
  clearTimeout(patience);
  expect(audit.output()).toContain('the audit could not run');
  await stack.bringPostgres();
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
