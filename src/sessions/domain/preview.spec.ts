import { describe, expect, it } from '@jest/globals';
import { previewOf, titleSeed } from './preview.js';

const user = (text: string): { role: string; content: object[] } => ({
  role: 'user',
  content: [{ type: 'input_text', text }],
});
const family = '👨‍👩‍👧‍👦';

describe('the preview of a message (contract/sessions.md 4.5)', () => {
  it.each<[string, string, string]>([
    ['a short text as it is', 'done', 'done'],
    ['one line of many (F004)', 'line one\nline two\t\ttabbed spaced', 'line one line two tabbed spaced'],
    ['nothing around it', '  \n padded\r\n ', 'padded'],
    ['no separator of any kind', 'a\u0085b\u2028c\u001cd\u00a0e\u3000f', 'a b c d e f'],
    ['150 characters without an ellipsis', 'x'.repeat(150), 'x'.repeat(150)],
    ['151 cut to 150 with one', 'x'.repeat(151), `${'x'.repeat(149)}…`],
    ['no blank before the ellipsis', `${'x'.repeat(148)} ${'y'.repeat(9)}`, `${'x'.repeat(148)}…`],
    ['code points, not UTF-16 units (F143)', '😀'.repeat(150), '😀'.repeat(150)],
    ['no half of a pair (F143)', `${'a'.repeat(149)}🟡${'b'.repeat(20)}`, `${'a'.repeat(149)}…`],
    ['two hundred pairs (F143)', '😀'.repeat(200), `${'😀'.repeat(149)}…`],
    ['a family cut between code points (F143)', `${'a'.repeat(148)}${family}`, `${'a'.repeat(148)}👨…`],
    ['accents counted as they are written (F143)', 'e\u0301'.repeat(200), `${'e\u0301'.repeat(74)}e…`],
  ])('keeps %s', (_what, text, preview) => {
    const shown = previewOf('message', user(text));
    expect(shown).toBe(preview);
    expect(shown?.isWellFormed()).toBe(true);
    expect(Array.from(shown ?? '').length).toBeLessThanOrEqual(150);
  });

  it('joins the text blocks of one message and passes the others over', () => {
    const content = [
      { type: 'input_text', text: 'see' },
      { type: 'input_image', text: 'not shown', image_url: 'data:' },
      { type: 'output_text', text: 'this\n' },
      { type: 'output_text', text: 7 },
      null,
      'loose',
    ];
    expect(previewOf('message', { role: 'assistant', content })).toBe('see this');
  });

  it.each<[string, string, Record<string, unknown>]>([
    ['a meta message', 'message', { ...user('hidden'), is_meta: true }],
    ['no content', 'message', { role: 'assistant', content: [] }],
    ['blanks only', 'message', user(' \n\t ')],
    ['an image only', 'message', { role: 'user', content: [{ type: 'input_image' }] }],
    ['another role', 'message', { ...user('sys'), role: 'system' }],
    ['a function call', 'function_call', { name: 'Bash', arguments: '{}' }],
    ['an output', 'function_call_output', { output: 'blob' }],
    ['an error', 'error', { message: 'boom' }],
  ])('is not replaced by %s', (_what, type, payload) => {
    expect(previewOf(type, payload)).toBeNull();
  });
});

describe('the title that a first message gives (contract/sessions.md 5.5)', () => {
  it('is one line of at most 60 code points', () => {
    expect(titleSeed('message', user(`Fix\nthe ${'build '.repeat(20)}`))).toBe(
      `Fix the ${'build '.repeat(8)}bui…`,
    );
    expect(titleSeed('message', user('😀'.repeat(61)))).toBe(`${'😀'.repeat(59)}…`);
  });

  it.each<[string, Record<string, unknown>]>([
    ['message', { role: 'assistant', content: [{ type: 'output_text', text: 'hi' }] }],
    ['message', { ...user('hi'), is_meta: true }],
    ['message', user('   ')],
    ['function_call', { name: 'Bash' }],
  ])('comes from no other item: %s %j', (type, payload) => {
    expect(titleSeed(type, payload)).toBeNull();
  });
});
