import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { binary } from './distribution.js';
import { type EmbeddedLog, EmbeddedPostgresError } from './embedded-log.js';
import { as } from './operator.js';
import type { Place } from './place.js';

export const SUPERUSER = 'rollcall';

/** The data of one Postgres, ready to be started. */
export interface Cluster {
  readonly dataDirectory: string;
  readonly password: string;
}

/**
 * Opens the cluster of a place, making it when there is none. It is made aside and renamed when complete, so a start
 * that was cut short leaves nothing that looks like a cluster.
 */
export async function openCluster(place: Place, durable: boolean, log: EmbeddedLog): Promise<Cluster> {
  const dataDirectory = join(place.home, 'data');
  const known = readPassword(place.home);
  if (existsSync(dataDirectory)) {
    checkVersion(dataDirectory, place.distribution.major);
    return { dataDirectory, password: known ?? (await resetPassword(place, dataDirectory, log)) };
  }
  const password = known ?? newPassword(place.home);
  log.info(`making a Postgres ${place.distribution.major} database in ${place.home}`);
  await initialise(place, dataDirectory, password, durable);
  return { dataDirectory, password };
}

async function initialise(place: Place, target: string, password: string, durable: boolean): Promise<void> {
  const draft = join(place.home, 'data.new');
  const passwordFile = join(place.home, 'password.init');
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { mode: 0o700 });
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (place.operator !== null) {
    for (const path of [draft, passwordFile]) chownSync(path, place.operator.uid, place.operator.gid);
  }
  try {
    await run(place, 'initdb', [
      ...[
        '-D',
        draft,
        '-U',
        SUPERUSER,
        '--auth=scram-sha-256',
        `--pwfile=${passwordFile}`,
        '--encoding=UTF8',
      ],
      // ILIKE, lower() and sorting that do not depend on the machine and know letters beyond ASCII.
      ...['--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--no-instructions'],
      ...(durable ? [] : ['--no-sync']),
    ]);
  } finally {
    rmSync(passwordFile, { force: true });
  }
  renameSync(draft, target);
}

function checkVersion(dataDirectory: string, major: number): void {
  const file = join(dataDirectory, 'PG_VERSION');
  const found = existsSync(file) ? readFileSync(file, 'utf8').trim() : null;
  if (found === String(major)) return;
  throw new EmbeddedPostgresError(
    found === null
      ? `${dataDirectory} is not a Postgres data directory; move it away and start again`
      : `${dataDirectory} was made by Postgres ${found} and this is Postgres ${major}; move it away (the read models are made anew from the log), or set DATABASE_URL to a Postgres server`,
  );
}

function readPassword(home: string): string | null {
  const file = join(home, 'password');
  const password = existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
  return password === '' ? null : password;
}

function newPassword(home: string): string {
  const password = randomBytes(24).toString('base64url');
  const draft = join(home, 'password.new');
  writeFileSync(draft, `${password}\n`, { mode: 0o600 });
  chmodSync(draft, 0o600);
  renameSync(draft, join(home, 'password'));
  return password;
}

/** The password file is gone: whoever may write the data directory may set another. */
async function resetPassword(place: Place, dataDirectory: string, log: EmbeddedLog): Promise<string> {
  log.warn(`the password of the database in ${place.home} is missing; setting a new one`);
  const password = newPassword(place.home);
  const statement = `ALTER ROLE ${SUPERUSER} PASSWORD '${password}';\n`;
  await run(place, 'postgres', ['--single', '-D', dataDirectory, 'postgres'], statement);
  return password;
}

/** Runs a binary to its end; its output becomes the error's text when it fails. */
async function run(
  place: Place,
  name: 'initdb' | 'postgres',
  args: readonly string[],
  input = '',
): Promise<void> {
  const child = spawn(binary(place.distribution, name), args, {
    ...as(place.operator),
    cwd: '/',
    env: { LC_ALL: 'C', TZ: 'UTC', PATH: process.env['PATH'] },
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  const ended = new Promise<number | string | null>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(code ?? signal));
  });
  child.stdin.on('error', () => undefined); // it ended without reading: its exit code says why
  child.stdin.end(input);
  const [status, complaint] = await Promise.all([ended, text(child.stderr)]);
  if (status === 0) return;
  throw new EmbeddedPostgresError(
    `${name} failed (${status}): ${complaint.trim().split('\n').slice(-3).join(' ')}`,
  );
}
