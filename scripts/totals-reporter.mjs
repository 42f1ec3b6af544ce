import { writeFileSync } from 'node:fs';

/**
 * Writes the totals of one pass when its last test has ended: before the global tear-down, whose leak check may fail the
 * run, and which Jest's own --json would wait for in vain.
 */
export default class TotalsReporter {
  onRunComplete(_contexts, result) {
    const totals = {
      passed: result.numPassedTests,
      failed: result.numFailedTests + result.numRuntimeErrorTestSuites,
      skipped: result.numPendingTests + result.numTodoTests,
      suites: result.numTotalTestSuites,
      slowest: result.testResults
        .map(({ testFilePath, perfStats }) => ({ file: testFilePath, ms: perfStats.end - perfStats.start }))
        .sort((one, other) => other.ms - one.ms)
        .slice(0, 5),
    };
    writeFileSync(process.env.ROLLCALL_TEST_TOTALS, JSON.stringify(totals));
  }
}
