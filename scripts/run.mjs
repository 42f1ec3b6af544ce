/**
 * `npm start`, `npm test` and the like come through here. It has no dependencies, so that it runs on a fresh clone:
 * it installs what is missing, builds what has changed, then runs the target.
 */
import { runNode } from './bootstrap/child.mjs';
import { ensureBuilt } from './bootstrap/build.mjs';
import { ensureInstalled, isInstalled } from './bootstrap/install.mjs';
import { environmentArguments } from './bootstrap/environment.mjs';
import { checkNodeVersion } from './bootstrap/node-version.mjs';
import { inProject } from './bootstrap/project.mjs';
import { exclusively } from './bootstrap/mutex.mjs';
import { BootstrapError, say } from './bootstrap/say.mjs';
import { runTests } from './run-tests.mjs';

/** A request's garbage should die young: V8's default nursery promotes it under load, and full collections follow. */
const SERVING = ['--max-semi-space-size=64'];
/** A fold of the whole log holds little for long, and V8 left alone lets several times as much pile up. */
const FOLDING = ['--max-semi-space-size=16', '--heap-growing-percent=60'];
/** What runs against a server reads the environment that the server reads. */
const run = (file, args, flags = SERVING) =>
  runNode([
    '--enable-source-maps',
    ...flags,
    ...environmentArguments(inProject('.env')),
    inProject('dist', file),
    ...args,
  ]);

/** Those that have a command of their own beside the main one. */
const BENCHES = ['event-store', 'rebuild'];

const targets = {
  setup: () => 0,
  start: (args) => run('src/main.js', args),
  test: (args) => runTests(args),
  'test:long': (args) => runTests(args, { ROLLCALL_LONG: '1' }),
  rollcall: (args) => run('src/cli/main.js', args, FOLDING),
  demo: (args) => run('src/demo/main.js', args),
  record: (args) => run('test/replay/record.js', args),
  bench: ([name, ...rest]) =>
    BENCHES.includes(name)
      ? run(`ops/bench/${name}/main.js`, rest)
      : run('ops/bench/main.js', name === undefined ? rest : [name, ...rest]),
};

async function main([name, ...args]) {
  checkNodeVersion();
  const target = targets[name];
  if (target === undefined) {
    throw new BootstrapError(`usage: node scripts/run.mjs <${Object.keys(targets).join('|')}> [arguments]`);
  }
  if (!isInstalled()) await exclusively(inProject('.bootstrap', 'installing'), ensureInstalled);
  await ensureBuilt();
  return target(args);
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof BootstrapError)) throw error;
  say(error.message);
  process.exitCode = 1;
}
