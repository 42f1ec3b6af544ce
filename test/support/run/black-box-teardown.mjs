import { testRun } from './global-setup.mjs';

export default async function tearDown() {
  const { leave } = await testRun();
  await leave('black-box');
}
