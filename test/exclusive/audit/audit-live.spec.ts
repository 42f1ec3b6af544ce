import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { auditOf } from '../../support/audit/rollcall-audit.js';
import { mixedPosts, plantForest, postAll } from '../../support/chaos/burst.js';
import { ExclusiveStack } from '../../support/exclusive-stack.js';
import type { ServerProcess } from '../../support/process/server-process.js';

jest.setTimeout(1_800_000);

const AUDITS = process.env['ROLLCALL_LONG'] === '1' ? 50 : 5;

let stack: ExclusiveStack;
let server: ServerProcess;

beforeAll(async () => {
  stack = await ExclusiveStack.start();
  server = await stack.startServer();
});

afterAll(() => stack.dispose());

it(`${AUDITS} audits under load raise no false alarm`, async () => {
  const forest = await plantForest(server.url, 4, 4);
  const load = { on: true, posted: 0 };
  const loading = (async () => {
    while (load.on) {
      const fates = await postAll(server.url, mixedPosts(forest, 240), { lanes: 12 });
      load.posted += [...fates.values()].filter((fate) => fate !== 'unanswered' && fate.status < 300).length;
    }
  })();
  const positions: bigint[] = [];
  try {
    for (let run = 0; run < AUDITS; run += 1) {
      const report = await auditOf(stack);
      expect(report).toMatchObject({ state: 'clean', differences: [], parked: [], truncated: false });
      positions.push(BigInt(report.position ?? -1));
    }
  } finally {
    load.on = false;
    await loading;
  }
  // It was under load: each audit looked at a later moment, with rows in all tables.
  expect(new Set(positions).size).toBe(AUDITS);
  expect(load.posted).toBeGreaterThan(AUDITS * 20);
});
