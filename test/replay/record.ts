/**
 * Records a scenario: plays it over HTTP against a server of its own, reads the events of the session tree from the
 * log, and writes them as NDJSON. `node scripts/run.mjs record [--pace 1]`; pace 0 leaves the pauses out.
 */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { toEventLine } from '../../src/event-store/event-lines.js';
import { EventLog } from '../../src/event-store/event-log.js';
import { StreamNames } from '../../src/event-store/stream-names.js';
import { ExclusiveStack } from '../support/exclusive-stack.js';
import { projectDirectory } from '../support/process/started-process.js';
import { RUN_VARIABLE, createRunDirectory } from '../support/run/run-directory.js';
import { loginFix } from './scenarios/login-fix/login-fix.js';
import { stageAt } from './scenarios/stage.js';
import { treeEvents } from './tree-events.js';

const TARGET = 'test/replay/orchestrator-with-eight-children.ndjson';

async function record(pace: number): Promise<void> {
  const stack = await ExclusiveStack.start();
  const log = new EventLog(stack.eventStoreUrl);
  try {
    const server = await stack.startServer();
    process.stdout.write(`recording ${TARGET}\n`);
    const root = await loginFix(stageAt(server.url, pace));
    const events = await treeEvents(log, new StreamNames('rollcall.'), root);
    writeFileSync(
      join(projectDirectory(), TARGET),
      events.map((event) => `${toEventLine(event)}\n`).join(''),
    );
    process.stdout.write(`${events.length} events of ${root}\n`);
  } finally {
    await log.close();
    await stack.dispose();
  }
}

const { values } = parseArgs({ options: { pace: { type: 'string', default: '1' } } });
const directory = createRunDirectory();
process.env[RUN_VARIABLE] = directory;
try {
  await record(Number(values.pace));
} finally {
  rmSync(directory, { recursive: true, force: true });
}
