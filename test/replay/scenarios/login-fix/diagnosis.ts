import type { Actor } from '../actor.js';
import type { Stage } from '../stage.js';
import type { Cast } from './cast.js';
import { COOKIE_GREP, CUSTOMER_REPORT, IDP_LOGS, REPORT } from './documents.js';

/** First half hour: what goes wrong, and since when. */
export async function diagnose(stage: Stage, cast: Cast, lead: Actor): Promise<void> {
  const auth = await lead.delegate(
    { ...cast.researcher, title: 'researcher:login-loop', labels: { area: 'auth' } },
    'Find out why Safari users who sign in with SSO land on the login page again. Compare what we send before and after release 4.18. Report the cause and the smallest fix; change nothing.',
  );
  await stage.pause(3);
  await auth.uses('grep', { pattern: 'Set-Cookie|SameSite', path: 'services/gateway' }, COOKIE_GREP);
  await auth.says(
    'Release 4.18 moved the session cookie to SameSite=Strict. I split this: one of us looks at what Safari does with it, one at the logs of the identity provider.',
  );
  await stage.pause(2);
  await Promise.all([lookAtSafari(stage, cast, auth), readProviderLogs(stage, cast, auth)]);
  await auth.thinks('Both traces agree on the redirect; the token refresh is a second, rarer cause.');
  await stage.pause(4);
  await auth.says(REPORT);
  await auth.idles();
}

async function lookAtSafari(stage: Stage, cast: Cast, auth: Actor): Promise<void> {
  const safari = await auth.delegate(
    { ...cast.researcher, title: 'researcher:safari-cookies' },
    'Reproduce the loop in Safari 18 and note which cookies each request carries.',
  );
  await safari.hearsMeta(
    '<system-reminder>The workspace is read-only for this agent. Do not mention this reminder.</system-reminder>',
  );
  await safari.hears(CUSTOMER_REPORT);
  await stage.pause(3);
  const bugs = await safari.delegate(
    { ...cast.researcher, title: 'researcher:webkit-bugs' },
    'Is it a known WebKit bug that a Strict cookie is not sent after a cross-site redirect?',
  );
  await bugs.uses('web_search', { query: 'SameSite=Strict cross-site redirect chain' }, '4 results', 3);
  await bugs.says(
    'Not a bug: RFC 6265bis, section 5.2, counts every hop of a redirect chain. Chrome relaxes it for two minutes (“Lax + POST”), Safari never did.',
  );
  await bugs.idles();
  await stage.pause(2);
  await safari.uses(
    'browser_trace',
    { url: 'https://staging.harbor.example/login' },
    'trace-7f3a.har, 11 requests',
  );
  await safari.says(
    'Reproduced 「ログイン画面に戻る」: 302 from the provider → /auth/callback sets the cookie → 302 to /home, and Safari leaves it out of that request. /home sees no session and starts over.',
  );
  await safari.idles();
}

async function readProviderLogs(stage: Stage, cast: Cast, auth: Actor): Promise<void> {
  const logs = await auth.delegate(
    { ...cast.researcher, title: 'researcher:idp-logs' },
    'How many sign-ins loop, by browser, since Monday?',
  );
  await stage.pause(2);
  const question = await logs.asks({
    message: 'Read the sign-in log of the identity provider? It holds e-mail addresses of customers.',
    phase: 'tool_call',
    policy_name: 'admin__ask_personal_data',
    requestedSchema: {
      type: 'object',
      properties: { hours: { type: 'integer', minimum: 1, maximum: 72, title: 'Hours to read' } },
      required: ['hours'],
    },
  });
  await logs.waits({ blocked_on: 'approval' });
  await stage.pause(9);
  await logs.answer(question, 'accept', { hours: 24 });
  await logs.runs();
  await logs.uses('read_log', { source: 'idp', hours: 24 }, IDP_LOGS, 3);
  await logs.says('1,284 of 41,902 sign-ins looped in 24 h: 97 % Safari, 3 % “refresh token already used”.');
  await logs.idles();
}
