import { expect, it } from '@jest/globals';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { runProcess } from '../../support/process/started-process.js';
import { runDirectory } from '../../support/run/run-directory.js';

it.each([
  ['PORT', 'eighty'],
  ['HOST', '0.0.0.0'],
  ['EVENTSTORE_URL', 'http://127.0.0.1:2113'],
  ['DATABASE_URL', 'mysql://root:secret@127.0.0.1/x'],
  ['ROLLCALL_AUTH', 'yes'],
  ['ROLLCALL_STREAM_PREFIX', 'No Dots'],
  ['LOG_LEVEL', 'loud'],
])('%s=%s ends the start with one line that names the variable', async (name, value) => {
  const dataDir = join(runDirectory(), 'never-made');
  const { code, output } = await runProcess('src/main.js', {
    name: 'environment',
    env: { ROLLCALL_DATA_DIR: dataDir, PORT: '0', [name]: value },
  });
  expect(code).toBe(1);
  expect(output).toMatch(new RegExp(`^rollcall: ${name} must be [^\\n]+\\n$`));
  expect(output).not.toContain('secret');
  expect(existsSync(dataDir)).toBe(false);
});
