import { testRun } from './global-setup.mjs';

export default async function tearDown(_globalConfig, projectConfig) {
  const { leave } = await testRun();
  await leave(projectConfig.displayName.name);
}
