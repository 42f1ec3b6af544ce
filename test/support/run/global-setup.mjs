import { pathToFileURL } from 'node:url';
import { ensureBuilt } from '../../../scripts/bootstrap/build.mjs';
import { inProject } from '../../../scripts/bootstrap/project.mjs';

/** The TypeScript of the set-up runs from the build, like the servers that it starts. */
export const testRun = async () => import(pathToFileURL(inProject('dist/test/support/run/test-run.js')).href);

export default async function setUp() {
  await ensureBuilt();
  const { enter } = await testRun();
  await enter('processes');
}
