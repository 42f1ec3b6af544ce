import { cpSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDirectory } from '../run/run-directory.js';
import { projectDirectory } from './started-process.js';

export interface PatchedBuild {
  readonly server: string;
  readonly cli: string;
  remove(): void;
}

/** This build with a change in one of its modules (`projections/…/projection.js`), in a checkout of its own. */
export function patchedBuild(module: string, change: (code: string) => string): PatchedBuild {
  const checkout = tempDirectory('build');
  const project = projectDirectory();
  for (const part of ['node_modules', 'package.json']) symlinkSync(join(project, part), join(checkout, part));
  cpSync(join(project, 'dist'), join(checkout, 'dist'), { recursive: true });
  const file = join(checkout, 'dist', module);
  const code = readFileSync(file, 'utf8');
  const changed = change(code);
  if (changed === code) throw new Error(`nothing was changed in ${module}`);
  writeFileSync(file, changed);
  return {
    server: join(checkout, 'dist/src/main.js'),
    cli: join(checkout, 'dist/src/cli/main.js'),
    remove: () => rmSync(checkout, { recursive: true, force: true }),
  };
}

/** One whose set has another version. */
export function buildWithAnotherSet(): PatchedBuild {
  return patchedBuild('projections/session-items/projection.js', (code) =>
    code.replace(/version: \d+,/, 'version: 1000,'),
  );
}
