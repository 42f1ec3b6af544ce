import { expect, it, jest } from '@jest/globals';
import { ExclusiveStack } from '../support/exclusive-stack.js';
import { api } from '../support/http.js';
jest.setTimeout(60000);
it('x', async () => {
  const stack = await ExclusiveStack.start();
  for (const path of ['/health', '/v1/sessions', '/nowhere']) {
    const s = await stack.startServer();
    await api(s.url).get(path);
    const t2 = performance.now();
    const e = await s.end('SIGTERM');
    const t3 = performance.now();
    process.stderr.write(JSON.stringify({ path, end: t3 - t2, e, out: s.output() }) + '\n');
  }
  await stack.dispose();
  expect(1).toBe(1);
});
