/**
 * Records a scenario: plays it over HTTP against a server of its own, reads the events of the session tree from the
 * log, and writes them as NDJSON. `node scripts/run.mjs record [--pace 1] <name>`; pace 0 leaves the pauses out.
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
import { changeOfPlan } from './scenarios/change-of-plan/change-of-plan.js';
import { loginFix } from './scenarios/login-fix/login-fix.js';
import { stageAt, type Stage } from './scenarios/stage.js';
import { treeEvents } from './tree-events.js';

const SCENARIOS: Readonly<Record<string, (stage: Stage) => Promise<string>>> = {
  'orchestrator-with-eight-children': loginFix,
  'interrupted-and-deleted': changeOfPlan,
};

async function record(name: string, pace: number): Promise<void> {
  const scenario = SCENARIOS[name];
  if (!scenario) throw new Error(`name one of ${Object.keys(SCENARIOS).join(', ')}`);
  const target = `test/replay/${name}.ndjson`;
  const stack = await ExclusiveStack.start();
  const log = new EventLog(stack.eventStoreUrl);
  try {
    const server = await stack.startServer();
    process.stdout.write(`recording ${target}\n`);
    const root = await scenario(stageAt(server.url, pace));
    const events = await treeEvents(log, new StreamNames('rollcall.'), root);
    writeFileSync(
      join(projectDirectory(), target),
      events.map((event) => `${toEventLine(event)}\n`).join(''),
    );
    process.stdout.write(`${events.length} events of ${root}\n`);
  } finally {
    await log.close();
    await stack.dispose();
  }
}

const { values, positionals } = parseArgs({
  options: { pace: { type: 'string', default: '1' } },
  allowPositionals: true,
});
const directory = createRunDirectory();
process.env[RUN_VARIABLE] = directory;
try {
  await record(positionals[0] ?? '', Number(values.pace));
} finally {
  rmSync(directory, { recursive: true, force: true });
}
