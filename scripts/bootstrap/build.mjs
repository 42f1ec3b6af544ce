import { createHash } from 'node:crypto';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { inProject, root } from './project.mjs';
import { exclusively } from './mutex.mjs';
import { BootstrapError, say } from './say.mjs';

const CONFIGURATION = ['package.json', 'package-lock.json', 'tsconfig.json', '.swcrc', 'nest-cli.json'];
/** What `nest build` compiles. */
const APPLICATION = ['src', 'projections'];
/** What the test stack, the recorder and the bench run from the build besides the application. */
const AROUND = ['test/support', 'test/replay', 'ops'];

/** Written last, and `nest build` empties dist first: a build that was cut short has no marker. */
const marker = inProject('dist', '.built');

/** Compiles what is not compiled yet. Safe beside other runs; costs a few milliseconds when nothing changed. */
export async function ensureBuilt() {
  if (isBuilt(fingerprint())) return;
  await exclusively(inProject('.bootstrap', 'building'), async () => {
    const wanted = fingerprint();
    if (isBuilt(wanted)) return;
    say('building');
    nestBuild();
    await compileAround();
    writeFileSync(marker, wanted);
  });
}

function isBuilt(wanted) {
  return existsSync(marker) && readFileSync(marker, 'utf8') === wanted;
}

function nestBuild() {
  const run = spawnSync(process.execPath, [inProject('node_modules/@nestjs/cli/bin/nest.js'), 'build'], {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  if (run.status === 0) return;
  throw new BootstrapError(`the build failed:\n${run.stdout ?? ''}${run.stderr ?? ''}`);
}

async function compileAround() {
  const { transformFileSync } = await import('@swc/core');
  for (const file of AROUND.flatMap(sources)) {
    if (!file.endsWith('.ts') || file.endsWith('.d.ts') || file.endsWith('.spec.ts')) continue;
    const { code, map } = transformFileSync(file, { configFile: inProject('.swcrc'), sourceMaps: true });
    const target = inProject('dist', relative(root, file).replace(/\.ts$/, '.js'));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, `${code}\n//# sourceMappingURL=${target.slice(dirname(target).length + 1)}.map\n`);
    writeFileSync(`${target}.map`, map);
  }
}

/** Changes when any file that the build reads changes: by content, so a checkout of old files counts too. */
export function fingerprint() {
  const hash = createHash('sha256');
  const files = [
    ...CONFIGURATION.map((name) => inProject(name)),
    ...[...APPLICATION, ...AROUND].flatMap(sources),
  ];
  for (const file of files) {
    if (file.endsWith('.spec.ts')) continue;
    hash.update(relative(root, file)).update('\0').update(readFileSync(file)).update('\0');
  }
  return hash.digest('hex');
}

function sources(folder) {
  const start = inProject(folder);
  if (!existsSync(start)) return [];
  const found = [];
  const visit = (directory) => {
    for (const name of readdirSync(directory).sort()) {
      const path = join(directory, name);
      if (statSync(path).isDirectory()) visit(path);
      else if (/\.(ts|json|sql|proto)$/.test(name)) found.push(path);
    }
  };
  visit(start);
  return found;
}
