import type { Actor } from '../actor.js';
import type { Stage } from '../stage.js';
import type { Cast } from './cast.js';
import { COOKIE_PATCH, TEST_RUN } from './documents.js';

/** The cookie: repaired, tested, and waiting for a person to let the end-to-end test sign in. */
export async function repairCookie(stage: Stage, cast: Cast, lead: Actor): Promise<void> {
  const coder = await lead.delegate(
    { ...cast.coder, title: 'coder:session-cookie' },
    'Set the session cookie to SameSite=Lax, keep Strict for the settings pages. Branch login-fix, tests first.',
  );
  await stage.pause(4);
  await coder.uses(
    'apply_patch',
    { patch: COOKIE_PATCH },
    'Done: 2 files changed, 9 insertions, 3 deletions',
  );
  await coder.says(
    'The cookie is set in one place now:\n\n```ts\nexport const sessionCookie = { name: "__Host-session", sameSite: "lax", secure: true, httpOnly: true } as const;\n```\n\nUnit and end-to-end tests are on their way.',
  );
  await Promise.all([unitTests(cast, coder), safariTests(stage, cast, coder)]);
  await coder.says(
    'Pull request #2291 is ready: unit tests pass; the Safari run waits for a person to allow the sign-in on staging.',
  );
  await coder.idles('Pull request #2291 is ready for review.');
}

async function unitTests(cast: Cast, coder: Actor): Promise<void> {
  const unit = await coder.delegate(
    { ...cast.tester, title: 'tester:unit' },
    'Run the tests of services/gateway.',
  );
  await unit.uses('bash', { command: 'npm test -w services/gateway' }, TEST_RUN, 5);
  await unit.says(
    '\u001b[1m\u001b[32m ✓ 214 passed\u001b[39m\u001b[22m, 0 failed (services/gateway, 18.3 s)',
  );
  await unit.idles();
}

async function safariTests(stage: Stage, cast: Cast, coder: Actor): Promise<void> {
  const safari = await coder.delegate(
    { ...cast.tester, title: 'tester:safari-e2e' },
    'Run login.e2e.ts in Safari 18 against staging.',
  );
  await stage.pause(3);
  await safari.says(
    'Safari 18.1 is up on the farm; I need to sign in on staging to walk through the whole redirect.',
  );
  await safari.asks({
    message: 'Sign in to staging with the test account sso-probe@harbor.example?',
    phase: 'tool_call',
    policy_name: 'admin__ask_sign_in',
    tool_name: 'browser_sign_in',
    requestedSchema: {
      type: 'object',
      properties: { approved: { type: 'boolean', title: 'Allow the sign-in' } },
      required: ['approved'],
    },
  });
  await safari.waits({ blocked_on: 'approval' });
  await stage.pause(2);
}

/** The token refresh: the first try dies on a locked table; a second session takes over under the same name. */
export async function repairRefresh(stage: Stage, cast: Cast, lead: Actor): Promise<void> {
  const title = 'coder:token-refresh';
  const first = await lead.delegate(
    { ...cast.coder, title },
    'Two tabs refresh the token at once and one is thrown out. Serialise the refresh per session on the server.',
  );
  await stage.pause(4);
  await first.says(
    'A row lock around the rotation does it. That needs a column, so a migration: 0042_refresh_lock.',
  );
  const migrate = await first.asks({
    message: 'Run migration 0042_refresh_lock on staging?',
    phase: 'codex_command_approval',
    command: 'npm run migrate -- --env staging --to 0042',
    reason: 'adds refresh_tokens.locked_until',
  });
  await first.waits({ blocked_on: 'approval' });
  await stage.pause(7);
  await first.answer(migrate, 'accept');
  await first.runs();
  await first.uses(
    'bash',
    { command: 'npm run migrate -- --env staging --to 0042' },
    'waiting for lock on refresh_tokens …',
    6,
  );
  await first.asks({
    message: 'End the backend that holds the lock (pid 31877)?',
    phase: 'codex_command_approval',
  });
  await stage.pause(5);
  await first.fails(
    'migration_failed',
    'Migration 0042_refresh_lock gave up after 30 s: refresh_tokens is locked by a report that has run for 41 minutes (pid 31877).',
  );
  await stage.pause(3);
  await lead.says(
    'The migration cannot get its lock. I close this attempt and try again without a new column.',
  );
  await first.close('cancelled');
  await retryRefresh(stage, cast, lead, title);
}

async function retryRefresh(stage: Stage, cast: Cast, lead: Actor, title: string): Promise<void> {
  const second = await lead.delegate(
    { ...cast.coder, title },
    'Serialise the token refresh per session without a migration; the table is locked by a report until tonight.',
  );
  await stage.pause(4);
  await second.says(
    'Using pg_advisory_xact_lock(hashtext(session_id)) instead: no column, no migration, gone with the transaction.',
  );
  const race = await second.delegate(
    { ...cast.reviewer, title: 'reviewer:concurrency' },
    'Is an advisory lock enough when two gateways refresh the same session?',
  );
  await stage.pause(3);
  await race.says(
    'Yes: the lock is per database, not per connection pool. Hash collisions only make two strangers wait for each other.',
  );
  await race.idles();
  await second.uses(
    'apply_patch',
    { path: 'services/gateway/src/auth/refresh.ts' },
    'Done: 1 file changed',
    3,
  );
  await second.says('Lock is in; writing the test with two tabs now.');
}
