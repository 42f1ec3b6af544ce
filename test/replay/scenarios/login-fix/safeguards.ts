import type { Actor } from '../actor.js';
import type { Stage } from '../stage.js';
import type { Cast } from './cast.js';
import { RELEASE_NOTE, REVIEW } from './documents.js';

/** A security review that is refused a shortcut, and a second opinion that a person adds below it. */
export async function review(stage: Stage, cast: Cast, lead: Actor): Promise<void> {
  const security = await lead.delegate(
    { ...cast.reviewer, title: 'reviewer:security', labels: { area: 'auth' } },
    'Review branch login-fix for what SameSite=Lax opens up. Say what must change before the merge.',
  );
  await stage.pause(6);
  await security.uses(
    'git_diff',
    { base: 'main', head: 'login-fix' },
    '2 files changed, 9 insertions(+), 3 deletions(-)',
  );
  const force = await security.asks({
    message: 'Force-push login-fix to remove a test secret from its history?',
    phase: 'pre_tool_use',
    policy_name: 'claude_native_permission',
    tool_name: 'Bash',
    content_preview: 'Bash({"command":"git push --force origin login-fix"})',
  });
  await security.waits({ blocked_on: 'approval' });
  await stage.pause(8);
  await security.approve(force, 'decline', { feedback: 'Rotate the secret instead.' });
  await security.runs();
  await security.says('Understood, no rewritten history: the secret is rotated and the old one revoked.');
  const second = await security.spawn({
    agent: null,
    speaksAs: 'claude-code',
    title: 'ui:claude-code:second-opinion',
  });
  await second.hears(
    'Read the diff with fresh eyes: can another site now make a signed-in user change something?',
  );
  await second.runs();
  await stage.pause(5);
  await security.says(REVIEW);
  await second.uses('read_file', { path: 'services/gateway/src/http/csrf.ts' }, '61 lines', 3);
  await second.says(
    'Going through the 14 routes that change state with GET … 9 of 14 looked at, nothing so far.',
  );
}

/** Load on staging: left alone in the background, then stopped by a broken gateway. */
export async function loadTest(stage: Stage, cast: Cast, lead: Actor): Promise<void> {
  const load = await lead.delegate(
    { ...cast.tester, title: 'tester:load' },
    'Sign in with 2,000 virtual users on staging, with and without login-fix. Compare p99.',
  );
  await load.uses(
    'bash',
    { command: 'k6 run login.js --vus 2000 &' },
    'started in the background, 2 jobs',
    3,
  );
  await load.waits({ background_task_count: 2 });
  await stage.pause(12);
  await load.runs();
  await load.says('Half way: p99 412 ms without the fix, 418 ms with it.');
  await stage.pause(6);
  await load.fails(
    'upstream_unavailable',
    'Load test stopped: the staging gateway answers 502 to 38 % of the requests since 14:07.',
  );
}

/** A person adds an agent of their own and answers its question in its terminal. */
export async function perfCheck(stage: Stage, lead: Actor): Promise<void> {
  const perf = await lead.spawn({ agent: null, speaksAs: 'codex', title: 'ui:codex:perf-check' });
  await perf.hears('does the new cookie make the header too big for the CDN? limit is 8 kB');
  await perf.runs();
  await stage.pause(4);
  const run = await perf.asks({
    message: 'Run command?',
    phase: 'codex_command_approval',
    command: 'npm run bench -- headers',
  });
  await perf.waits({ blocked_on: 'approval' });
  await stage.pause(5);
  await perf.answeredElsewhere(run);
  await perf.runs();
  await perf.uses(
    'shell',
    { command: ['npm', 'run', 'bench', '--', 'headers'] },
    'p100 header size 3,318 B',
    4,
  );
  await perf.says('No: the largest request header is 3.3 kB, the limit is 8 kB.');
  await perf.idles();
}

/** An old client gives titles without a colon; the session is renamed on the way. */
export async function writeNotes(stage: Stage, lead: Actor): Promise<void> {
  const notes = await lead.spawn({ agent: null, speaksAs: 'writer', title: 'release notes' });
  await notes.hears('Write the note for 4.18.2. Short, for people who do not know what a cookie is.');
  await notes.runs();
  await stage.pause(8);
  await notes.change({ title: 'changelog', labels: { audience: 'customers' } });
  await notes.says(RELEASE_NOTE);
  await notes.idles();
}
