import { describe, expect, it } from '@jest/globals';
import type { Answer } from '../support/http.js';
import { type ChildRow, type ItemRow, type List, type SessionBody, roll } from '../support/roll.js';
import { stack } from '../support/stack.js';

/** Area "unicode". */
const on = roll(stack().a);

const newChild = async () => on.child(await on.root(), { title: 'a:b' });
const parentOf = (child: SessionBody) => String(child['parent_session_id']);

const rowsOf = (child: SessionBody): Promise<Answer<List<ChildRow>>> =>
  on.api.get(`/v1/sessions/${parentOf(child)}/child_sessions`);

/** The text on the wire says what the parsed value says: no escape of half a pair, no replacement. */
function expectWellFormed(answer: Answer<unknown>): void {
  expect(answer.text.isWellFormed()).toBe(true);
  expect(answer.text).not.toMatch(/\\ud[89a-f]/i);
  expect(answer.text).not.toMatch(/\\u0000/);
}

const family = '👨‍👩‍👧‍👦';

describe('F143: a preview of 150 characters counts code points and cuts no pair', () => {
  it.each([
    ['a pair at the cut', `${'a'.repeat(149)}🟡${'b'.repeat(20)}`, `${'a'.repeat(149)}…`],
    ['a pair just before the cut', `${'a'.repeat(148)}🟡${'b'.repeat(20)}`, `${'a'.repeat(148)}🟡…`],
    ['a family across the cut', 'a'.repeat(148) + family, `${'a'.repeat(148)}👨…`],
    ['combining accents', 'e\u0301'.repeat(200), `${'e\u0301'.repeat(74)}e…`],
    ['200 emoji', '😀'.repeat(200), `${'😀'.repeat(149)}…`],
    ['exactly 150', 'a'.repeat(150), 'a'.repeat(150)],
    ['exactly 150 emoji', '😀'.repeat(150), '😀'.repeat(150)],
    ['151', 'a'.repeat(151), `${'a'.repeat(149)}…`],
    ['a blank at the cut', `${'a'.repeat(148)} ${'b'.repeat(20)}`, `${'a'.repeat(148)}…`],
  ])('%s', async (_, text, expected) => {
    const child = await newChild();
    await on.message(child.id, 'assistant', text);
    const answer = await rowsOf(child);
    expect(answer.body.data[0]?.last_message_preview).toBe(expected);
    expectWellFormed(answer);
    expect(answer.text).not.toContain('\ufffd');
  });

  it('escaped or as bytes, the same text is the same preview', async () => {
    const [escaped, plain] = [await newChild(), await newChild()];
    const body = (emoji: string) =>
      `{"type":"external_assistant_message","data":{"agent":"w","text":"${'a'.repeat(140)}${emoji.repeat(20)}"}}`;
    for (const [child, emoji] of [
      [escaped, '\\ud83d\\udfe1'],
      [plain, '🟡'],
    ] as const) {
      const headers = { 'content-type': 'application/json' };
      const posted = await on.api.raw('POST', `/v1/sessions/${child.id}/events`, body(emoji), { headers });
      expect(posted.status).toBe(202);
    }
    const previews = [await on.row(escaped), await on.row(plain)].map((row) => row.last_message_preview);
    expect(previews).toEqual([previews[1], `${'a'.repeat(140)}${'🟡'.repeat(9)}…`]);
  });

  it('a title seeded from a text is cut the same way', async () => {
    const session = await on.root();
    await on.message(session.id, 'user', '😀'.repeat(61));
    expect((await on.snapshot(session.id)).title).toBe(`${'😀'.repeat(59)}…`);
  });
});

describe('F144: text that is no Unicode is stored, shown as U+FFFD, and harms nothing', () => {
  it.each([
    ['a lone high half', String.raw`lone \ud83d end`, 'lone \ufffd end'],
    ['a lone low half', String.raw`lone \udfe1 end`, 'lone \ufffd end'],
    ['a pair the wrong way round', String.raw`\udc00\ud83d`, '\ufffd\ufffd'],
    ['NUL', String.raw`a\u0000b`, 'a\ufffdb'],
    ['text that only looks like NUL', String.raw`a\\u0000b`, String.raw`a\u0000b`],
    ['text that only looks like half a pair', String.raw`a\\ud83db`, String.raw`a\ud83db`],
  ])('%s', async (_, written, shown) => {
    const child = await newChild();
    const post = (text: string) =>
      on.api.raw(
        'POST',
        `/v1/sessions/${child.id}/events`,
        `{"type":"external_assistant_message","data":{"agent":"w","text":"${text}"}}`,
        { headers: { 'content-type': 'application/json' } },
      );
    expect((await post(written)).status).toBe(202);
    const rows = await rowsOf(child);
    const items = await on.api.get<List<ItemRow>>(`/v1/sessions/${child.id}/items`);
    const snapshot = await on.api.get<SessionBody>(`/v1/sessions/${child.id}`);
    expect(rows.body.data[0]?.last_message_preview).toBe(shown);
    expect(items.body.data).toMatchObject([{ content: [{ type: 'output_text', text: shown }] }]);
    expect(snapshot.body).toMatchObject({ items: [{ data: { content: [{ text: shown }] } }] });
    for (const answer of [items, snapshot, rows]) {
      // What only looks like an escape is one backslash more on the wire, so the check is for real ones.
      expect(JSON.stringify(answer.body).replaceAll(String.raw`\\u`, '')).not.toMatch(/\\ud[89a-f]|\\u0000/i);
    }
    expect((await post('and on it goes')).status).toBe(202);
    expect((await on.row(child)).last_message_preview).toBe('and on it goes');
    expect(await on.items(child.id)).toHaveLength(2);
  });

  it('in every text that a client may send', async () => {
    const child = await newChild();
    const bad = 'x\ud83d\0y';
    await on.ask(child.id, {
      message: bad,
      [bad]: bad,
      requestedSchema: { properties: { q: { title: bad } } },
    });
    await on.api.patch(`/v1/sessions/${child.id}`, { labels: { note: bad } });
    await on.status(child.id, 'failed', { output: bad });
    await on.message(child.id, 'user', [
      { type: 'input_text', text: 'fine' },
      { type: bad, [bad]: bad },
    ]);
    const shown = 'x\ufffd\ufffdy';
    const row = await on.row(child);
    expect(row.labels['note']).toBe(shown);
    expect(row['last_task_error']).toMatchObject({ message: shown });
    expect(row.last_message_preview).toBe('fine');
    const parked = await on.api.get(`/v1/sessions/${child.id}`);
    expect(parked.headers.has('rollcall-parked')).toBe(false);
    expectWellFormed(parked);
    await on.message(child.id, 'user', 'and on it goes');
    expect((await on.row(child)).last_message_preview).toBe('and on it goes');
  });
});
