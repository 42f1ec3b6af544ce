import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runNode } from './bootstrap/child.mjs';
import { inProject } from './bootstrap/project.mjs';
import { say } from './bootstrap/say.mjs';

/**
 * Exclusive suites kill and restart their own stacks and watch the clock, so they run after the others, one at a
 * time. Arguments go to both passes; a pass that they leave without a file is silent.
 */
const PASSES = [
  { name: 'shared', projects: ['unit', 'blackbox', 'conformance'], args: [] },
  { name: 'exclusive', projects: ['exclusive'], args: ['--runInBand'] },
];

const NODE_OPTIONS = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'];

const resultsFolder = inProject('.bootstrap', 'test-results');

/** What .ci/run reads. */
export const totalsFile = join(resultsFolder, 'total.json');

/** Runs every suite; the exit code is 0 only if all passed and nothing was left behind. */
export async function runTests(args, env = {}) {
  rmSync(resultsFolder, { recursive: true, force: true });
  mkdirSync(resultsFolder, { recursive: true });
  const total = { passed: 0, failed: 0, skipped: 0, suites: 0 };
  let exit = 0;
  for (const pass of PASSES) {
    const file = join(resultsFolder, `${pass.name}.json`);
    const code = await runNode(jestArguments(pass, args), {
      ...env,
      ROLLCALL_TEST_TOTALS: file,
      NODE_OPTIONS: [process.env.NODE_OPTIONS, ...NODE_OPTIONS].filter(Boolean).join(' '),
    });
    const found = add(file, total);
    if (code !== 0 && found.failed === 0) total.failed += 1; // a leak, a set-up that failed, an end by a signal
    exit ||= code;
    if (code >= 128) break;
  }
  if (exit === 0 && total.suites === 0) {
    say('no test file matched');
    exit = 1;
  }
  writeFileSync(totalsFile, JSON.stringify(total));
  const skipped = total.skipped > 0 ? `, ${total.skipped} skipped` : '';
  process.stdout.write(`${total.passed} passed, ${total.failed} failed${skipped}\n`);
  return exit;
}

function jestArguments(pass, args) {
  return [
    inProject('node_modules/jest/bin/jest.js'),
    '--reporters=default',
    `--reporters=${inProject('scripts/totals-reporter.mjs')}`,
    '--selectProjects',
    ...pass.projects,
    ...pass.args,
    '--passWithNoTests', // after the lists: it ends them, so that the user's paths are not taken for members
    ...args,
  ];
}

function add(file, total) {
  const none = { passed: 0, failed: 0, skipped: 0, suites: 0 };
  const found = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : none;
  for (const key of Object.keys(none)) total[key] += found[key];
  return found;
}
