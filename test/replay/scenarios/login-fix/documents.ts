/** The longer texts of the scenario. */

export const COOKIE_GREP = `services/gateway/src/http/session-cookie.ts:14:  sameSite: 'strict',
services/gateway/src/http/session-cookie.ts:15:  secure: true,
services/gateway/src/auth/callback.ts:88:  reply.header('set-cookie', sessionCookie(session));
services/gateway/CHANGELOG.md:31:- 4.18.0: session cookie is SameSite=Strict (#2204)`;

export const CUSTOMER_REPORT = `From the support desk, a customer in Osaka:

> SSOでログインすると、毎回ログイン画面に戻ってしまいます。Chromeでは問題ありません。Safari 18.1、macOS 15 です。
> 何度試しても同じです 😢`;

export const IDP_LOGS = `browser        sign-ins   loops   share
Safari 18        21,377   1,181    5.5 %
Safari 17         3,040      64    2.1 %
Chrome 131       14,220      31    0.2 %   refresh token already used
Firefox 133       3,265       8    0.2 %   refresh token already used`;

export const REPORT = `**Cause.** Since 4.18 the session cookie is \`SameSite=Strict\`. After SSO the browser comes back to us by a redirect that the identity provider starts. Safari counts the whole chain as cross-site and leaves a Strict cookie out of the request to \`/home\`. That page sees no session and sends the user to the login page, where the provider still knows them, and so on.

| step | request | cookie sent by Chrome | cookie sent by Safari |
|---|---|---|---|
| 1 | POST idp.example/sso | – | – |
| 2 | GET /auth/callback (302) | – | – |
| 3 | GET /home | __Host-session | *none* |
| 4 | GET /login (302) | – | – |

**Second cause, 3 % of the loops.** Two tabs refresh the token at once. The first rotates it, the second presents the old one and is thrown out: “refresh token already used”.

\`\`\`ts
// services/gateway/src/auth/refresh.ts
const token = await tokens.find(presented);
if (token.used) throw new ReuseDetected(token.family); // the second tab ends here
await tokens.rotate(token);
\`\`\`

**Smallest fix.**
1. \`SameSite=Lax\` for the session cookie. Lax is sent on top-level GETs after a redirect, and still not on cross-site POSTs.
2. Keep \`Strict\` for a second cookie that the settings pages ask for, so that nothing is lost there.
3. Serialise the refresh per session on the server.

**Not needed.** No change at the identity provider, no change in the app, no forced sign-out. Users who are in the loop now get out of it with their next sign-in.

**Open.** Routes that change state with GET would be reachable from other sites under Lax. I count 14 of them; the review should look at each.`;

export const COOKIE_PATCH = `*** Begin Patch
*** Update File: services/gateway/src/http/session-cookie.ts
@@
-  sameSite: 'strict',
+  sameSite: 'lax', // Strict is not sent after the provider's redirect (LOGIN-412)
   secure: true,
*** Update File: services/gateway/src/http/settings-cookie.ts
@@
+export const settingsCookie = { ...sessionCookie, name: '__Host-settings', sameSite: 'strict' } as const;
*** End Patch`;

export const TEST_RUN = Array.from({ length: 40 }, (_, index) => {
  const name = ['session cookie', 'callback', 'refresh', 'csrf', 'logout'][index % 5] ?? '';
  return `  \u001b[32m✓\u001b[39m ${name} › case ${Math.floor(index / 5) + 1} (${3 + ((index * 7) % 41)} ms)`;
}).join('\n');

export const REVIEW = `One thing must change before the merge: these two routes change state with GET, and under Lax another site can call them for a signed-in user.

\`\`\`diff
-router.get('/sessions/:id/revoke', revoke);
-router.get('/invites/:code/accept', acceptInvite);
+router.post('/sessions/:id/revoke', revoke);
+router.post('/invites/:code/accept', acceptInvite);
\`\`\`

Everything else holds: <script src="…"> from elsewhere gets no cookie, and the CSRF token is still asked for on every POST.`;

/** The emoji stands where a preview ends: 148 code points come before it. */
export const RELEASE_NOTE =
  'Signing in with your company account works in Safari again. You may be asked to sign in once more after this update; after that you stay signed in. 🔐🚀✨ We are sorry for the detour — and thank you, 大阪のお客様, for the report that led us to it!';
