import { describe, expect, it } from '@jest/globals';
import { roll } from '../support/roll.js';
import { stack } from '../support/stack.js';

/** Area "title parse". */
const on = roll(stack().a);

describe('F001: a title with a colon in it', () => {
  const parsed: readonly (readonly [string | null, string | null, string | null])[] = [
    ['deploy: prod', 'deploy', ' prod'],
    ['research:pricing', 'research', 'pricing'],
    [':leading', '', 'leading'],
    ['trailing:', 'trailing', ''],
    ['a:b:c', 'a', 'b:c'],
    ['::', '', ':'],
    ['http://x:8080/y', 'http', '//x:8080/y'],
    ['ui:coder:my label', 'coder', 'my label'],
    ['ui:coder', 'ui', 'coder'],
    ['ui::', '', ''],
    ['UI:coder:x', 'UI', 'coder:x'],
    ['no colon', 'no colon', null],
    ['full-width：colon', 'full-width：colon', null],
    ['', null, null],
    [null, null, null],
  ];

  it.each(parsed)('%j is %j and %j when nobody states the tool', async (title, tool, session_name) => {
    const parent = await on.root();
    const child = await on.child(parent, { title });
    expect(child.title).toBe(title);
    expect(await on.children(parent.id)).toMatchObject([{ id: child.id, title, tool, session_name }]);
  });

  const stated: readonly (readonly [string | null, string | null])[] = [
    ['deploy: prod', 'deploy: prod'],
    ['research:pricing', 'research:pricing'],
    [':leading', ':leading'],
    ['trailing:', 'trailing:'],
    ['a:b:c', 'a:b:c'],
    ['::', '::'],
    ['http://x:8080/y', 'http://x:8080/y'],
    ['ui:coder:my label', 'ui:coder:my label'],
    ['writer:chapter one', 'chapter one'],
    ['writer:a:b', 'a:b'],
    ['ui:writer:my label', 'my label'],
    ['writer', null],
    ['no colon', 'no colon'],
    ['', null],
    [null, null],
  ];

  it.each(stated)('%j is named %j when the tool is stated as writer', async (title, session_name) => {
    const parent = await on.root();
    const child = await on.child(parent, { title, tool: 'writer' });
    expect(child.title).toBe(title);
    expect(await on.children(parent.id)).toMatchObject([{ title, tool: 'writer', session_name }]);
  });

  it('is named as stated when the name is stated too, whatever becomes of the title', async () => {
    const parent = await on.root();
    const child = await on.child(parent, { title: 'a:b', tool: 'writer', session_name: 'chapter' });
    expect(await on.row(child)).toMatchObject({ title: 'a:b', tool: 'writer', session_name: 'chapter' });
    await on.rename(child.id, 'c:d');
    expect(await on.row(child)).toMatchObject({ title: 'c:d', tool: 'writer', session_name: 'chapter' });
  });
});

describe('F002: a title that looks like a tombstone', () => {
  it('is a title: all children are listed, running, and none of them closed', async () => {
    const parent = await on.root();
    const titles = ['fix:closed:conv_123', 'agent:task:closed:', ':closed:', 'colonless'];
    for (const title of titles) {
      const child = await on.child(parent, { title });
      await on.status(child.id, 'running');
    }
    const rows = await on.children(parent.id, '?order=asc');
    expect(rows.map(({ title, busy, labels }) => [title, busy, labels])).toEqual(
      titles.map((title) => [title, true, {}]),
    );
    for (const { id, title } of rows) expect(await on.snapshot(id)).toMatchObject({ title, closed: false });
  });

  it('is not refused user messages', async () => {
    const parent = await on.root();
    const { id } = await on.child(parent, { title: 'fix:closed:conv_123' });
    const content = [{ type: 'input_text', text: 'go on' }];
    const answer = await on.event(id, 'message', { role: 'user', content });
    // 503, not 409: no runner is bound, and that is the only thing wrong.
    expect(answer.body).toMatchObject({ error: { code: 'runner_unavailable' } });
  });

  it('closes by an event alone', async () => {
    const parent = await on.root();
    const child = await on.child(parent, { title: 'fix:closed:conv_123' });
    await on.close(child.id);
    expect(await on.row(child)).toMatchObject({
      title: 'fix:closed:conv_123',
      labels: { 'omnigent.closed': 'true' },
    });
  });
});
