import { ensureBuilt } from '../../../scripts/bootstrap/build.mjs';
import { testRun } from './global-setup.mjs';

/** A file of its own, because Jest runs a set-up file once, however many projects name it. */
export default async function setUp() {
  await ensureBuilt();
  const { enter } = await testRun();
  await enter('black-box');
}
