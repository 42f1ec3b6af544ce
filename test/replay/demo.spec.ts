import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { api } from '../support/http.js';
import { projectDirectory, runProcess } from '../support/process/started-process.js';
import { stack } from '../support/stack.js';
import { unique } from '../support/unique.js';

const RAIL = 'test/replay/golden/orchestrator-with-eight-children.rail.txt';

const demo = (...args: string[]): ReturnType<typeof runProcess> =>
  runProcess('src/demo/main.js', { name: 'demo', args });

describe('npm run demo', () => {
  it('plays the recording, prints the rail, and says how to answer the open question', async () => {
    const { code, output } = await demo('--url', stack().a);
    expect({ code, output }).toMatchObject({ code: 0 });
    expect(output).toContain('8 children, 7 below them, 1 open question');
    expect(output).toContain(readFileSync(join(projectDirectory(), RAIL), 'utf8'));
    expect(output).not.toContain('\u001b');

    const [, verdict = '', path = ''] = /-d '(.*)' \\\n +http:\/\/[^/]+(\S+)/.exec(output) ?? [];
    expect((await api(stack().a).post(path, JSON.parse(verdict))).status).toBe(202);
    const [, session = ''] = /curl \S+(\/v1\/sessions\/\w+)\n/.exec(output) ?? [];
    expect((await api(stack().a).get(session)).body).toMatchObject({ pending_elicitations: [] });
  }, 60_000);

  it('acts for a user where the server asks for one', async () => {
    const anonymous = await demo('--url', stack().b);
    expect(anonymous).toMatchObject({
      code: 1,
      output: expect.stringContaining('demo: the server asks who you are: pass --user you@example.org\n'),
    });
    const user = `${unique('demo')}@example.org`;
    const named = await demo('--url', stack().b, '--user', user);
    expect(named).toMatchObject({ code: 0, output: expect.stringContaining(`X-Forwarded-Email: ${user}`) });
  }, 60_000);

  it('says in one line that no server answers', async () => {
    const { code, output } = await demo('--url', 'http://127.0.0.1:9');
    expect(code).toBe(1);
    expect(output).toMatch(
      /^demo: nothing answers at http:\/\/127\.0\.0\.1:9 \(.*\); start Rollcall with npm start.*\n$/,
    );
  });
});
