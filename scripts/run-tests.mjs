import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { runNode } from './bootstrap/child.mjs';
import { inProject } from './bootstrap/project.mjs';
import { say } from './bootstrap/say.mjs';

/**
 * Exclusive suites kill and restart their own stacks and watch the clock, so they run after the others, one at a
 * time. Arguments go to both passes; a pass that they leave without a file is silent.
 */
const PASSES = [
  { name: 'shared', args: ['--selectProjects', 'unit', 'blackbox', 'conformance'] },
  { name: 'exclusive', args: ['--selectProjects', 'exclusive', '--runInBand'] },
];

export const resultsFolder = inProject('.bootstrap', 'test-results');

/** Runs every suite; the exit code is 0 only if all passed and nothing was left behind. */
export async function runTests(args, env = {}) {
  rmSync(resultsFolder, { recursive: true, force: true });
  mkdirSync(resultsFolder, { recursive: true });
  const total = { passed: 0, failed: 0, skipped: 0, suites: 0 };
  let exit = 0;
  for (const pass of PASSES) {
    const report = `${resultsFolder}/${pass.name}.json`;
    const code = await runNode(jestArguments(pass, args, report), {
      ...env,
      NODE_OPTIONS: [
        process.env.NODE_OPTIONS,
        '--experimental-vm-modules',
        '--disable-warning=ExperimentalWarning',
      ]
        .filter(Boolean)
        .join(' '),
    });
    exit ||= code;
    if (code >= 128) break;
    count(report, total);
  }
  if (total.suites === 0) {
    say('no test file matched');
    exit ||= 1;
  }
  if (exit !== 0 && total.failed === 0) total.failed = 1;
  writeFileSync(`${resultsFolder}/total.json`, JSON.stringify(total));
  process.stdout.write(
    `${total.passed} passed, ${total.failed} failed${total.skipped > 0 ? `, ${total.skipped} skipped` : ''}\n`,
  );
  return exit;
}

function jestArguments(pass, args, report) {
  return [
    inProject('node_modules/jest/bin/jest.js'),
    ...pass.args,
    '--passWithNoTests',
    '--json',
    `--outputFile=${report}`,
    ...args,
  ];
}

function count(report, total) {
  try {
    const result = JSON.parse(readFileSync(report, 'utf8'));
    total.passed += result.numPassedTests;
    total.failed += result.numFailedTests + result.numRuntimeErrorTestSuites;
    total.skipped += result.numPendingTests;
    total.suites += result.numTotalTestSuites;
  } catch {
    total.failed += 1;
  }
}
