import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../support/http.js';
import { type SessionBody, roll } from '../support/roll.js';
import { stack } from '../support/stack.js';

/** Area "preview". */
const on = roll(stack().a);

const newChild = async () => on.child(await on.root(), { title: 'a:b' });
const preview = async (child: SessionBody) => (await on.row(child)).last_message_preview;

async function item(sessionId: string, item_type: string, item_data: JsonObject): Promise<void> {
  const answer = await on.event(sessionId, 'external_conversation_item', { item_type, item_data });
  expect([answer.status, answer.text]).toEqual([202, expect.any(String)]);
}

it('F003: the preview follows the newest visible text, and nothing else', async () => {
  const child = await newChild();
  expect(await preview(child)).toBeNull();
  await on.message(child.id, 'user', 'kick-off');
  expect(await preview(child)).toBe('kick-off');
  await on.message(child.id, 'assistant', 'step 1');
  expect(await preview(child)).toBe('step 1');
  await item(child.id, 'function_call', { agent: 'w', name: 'Bash', arguments: '{}', call_id: 'c1' });
  await item(child.id, 'function_call_output', { call_id: 'c1', output: 'blob' });
  await item(child.id, 'error', { source: 'tool', code: 'boom', message: 'an error text' });
  await item(child.id, 'reasoning', { agent: 'w', summary: [{ type: 'summary_text', text: 'thinking' }] });
  await item(child.id, 'terminal_command', { kind: 'input', input: 'ls' });
  await on.ask(child.id, { message: 'May I?' });
  await on.status(child.id, 'running');
  expect(await preview(child)).toBe('step 1');
  await on.message(child.id, 'assistant', 'final words');
  expect(await preview(child)).toBe('final words');
});

describe('F004: what shows no text leaves the preview in place', () => {
  it('one line, blanks collapsed', async () => {
    const child = await newChild();
    await on.message(child.id, 'assistant', 'line one\nline two\t\ttabbed spaced');
    expect(await preview(child)).toBe('line one line two tabbed spaced');
    await on.message(child.id, 'assistant', '\u2028 a\u2029b\u0085c\u00a0d\r\ne\u3000f ');
    expect(await preview(child)).toBe('a b c d e f');
  });

  it.each<readonly [string, readonly JsonObject[]]>([
    ['no content', []],
    ['blanks', [{ type: 'output_text', text: ' \n\t ' }]],
    ['an image', [{ type: 'input_image', image_url: 'data:,' }]],
    ['an empty text', [{ type: 'output_text', text: '' }]],
    ['a text that is none', [{ type: 'output_text', text: 7 }]],
    ['a block of another kind', [{ type: 'tool_use', text: 'hidden' }]],
    ['a block without a kind', [{ text: 'hidden' }]],
  ])('%s', async (_, content) => {
    const child = await newChild();
    await on.message(child.id, 'assistant', content);
    expect(await preview(child)).toBeNull();
    await on.message(child.id, 'assistant', 'line one\nline two');
    await on.message(child.id, 'assistant', content);
    expect(await preview(child)).toBe('line one line two');
  });

  it('texts of several blocks are joined by one blank', async () => {
    const child = await newChild();
    await on.message(child.id, 'user', [
      { type: 'input_text', text: ' one ' },
      { type: 'input_image', image_url: 'data:,' },
      { type: 'output_text', text: '\ntwo' },
    ]);
    expect(await preview(child)).toBe('one two');
  });

  it('a visible text stays however many hidden ones follow', async () => {
    const child = await newChild();
    await on.message(child.id, 'assistant', 'still here');
    await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        on.message(child.id, 'user', `skill ${index}`, { is_meta: true }),
      ),
    );
    expect(await preview(child)).toBe('still here');
  });
});
