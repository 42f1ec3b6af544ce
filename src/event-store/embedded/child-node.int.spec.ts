import { describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { firstReport } from './child-node.js';

const SILENT_FOR_MS = 1_500;

/** What a starting process that runs this script is taken for, and what it was heard to say. */
async function hear(script: string, signal = new AbortController().signal) {
  const child = spawn(process.execPath, ['-e', script], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  const exited = new Promise<string>((settle) => child.once('exit', (code) => settle(`exit ${code}`)));
  const said: string[] = [];
  const log = (line: string): void => void said.push(line);
  const outcome = await firstReport(child, exited, { silentForMs: SILENT_FOR_MS, signal, log });
  child.kill('SIGKILL');
  await exited;
  return { outcome, said };
}

describe('a process that starts', () => {
  it('is waited for as long as it says what it is at', async () => {
    const { outcome, said } = await hear(`
      let part = 0;
      const more = setInterval(() => {
        process.send({ starting: 'part ' + (part += 1) });
        if (part === 30) { clearInterval(more); process.send({ port: 4711 }); }
      }, 100);`);
    expect(outcome).toBe(4711);
    expect(said).toHaveLength(30);
    expect(said.at(-1)).toBe('event store: part 30');
  });

  it('is given up when it says nothing', async () => {
    const { outcome } = await hear('setInterval(() => undefined, 1_000)');
    expect(outcome).toBe('it said nothing for 1500 ms');
  });

  it('is not waited for once it has ended', async () => {
    expect((await hear('process.exit(3)')).outcome).toBe('exit 3');
  });

  it('is given up when it is no longer wanted', async () => {
    const unwanted = hear('setInterval(() => process.send({ starting: 1 }), 100)', AbortSignal.abort());
    expect((await unwanted).outcome).toBe('its start was given up');
  });
});
