import { describe, expect, it } from '@jest/globals';
import { hintLines, type Snapshot } from './hints.js';

const URL = 'http://127.0.0.1:6767';

function answer(
  params: Snapshot['pending_elicitations'][number]['params'],
  user: string | null = null,
): string {
  const snapshot = {
    id: 'conv_root',
    title: null,
    pending_elicitations: [{ elicitation_id: 'e/1', params }],
  };
  return hintLines(snapshot, URL, user).slice(4).join('\n');
}

describe('the hints', () => {
  it('show where the session is when nothing is open', () => {
    expect(hintLines({ id: 'conv_root', title: null, pending_elicitations: [] }, URL, null)).toEqual([
      'This session:',
      '  curl http://127.0.0.1:6767/v1/sessions/conv_root',
      '  curl http://127.0.0.1:6767/v1/sessions/conv_root/child_sessions',
    ]);
  });

  it('answer the session that asks', () => {
    const text = answer({ message: 'Go on?', target_session_id: 'conv_child' });
    expect(text).toContain('To answer “Go on?”:');
    expect(text).toContain(`-d '{"action":"accept"}'`);
    expect(text).toContain(`${URL}/v1/sessions/conv_child/elicitations/e%2F1/resolve`);
  });

  it('give the least that the schema asks for', () => {
    const properties = {
      sure: { type: 'boolean' },
      hours: { type: 'integer', minimum: 1 },
      where: { enum: ['staging', 'production'] },
      note: { type: 'string' },
    };
    const text = answer({
      message: 'm',
      requestedSchema: { properties, required: ['sure', 'hours', 'where'] },
    });
    expect(text).toContain(`"content":{"sure":true,"hours":1,"where":"staging"}`);
  });

  it('stay one shell word each, whatever the text', () => {
    const text = answer(
      { message: '\u001b[2Jm', requestedSchema: { properties: { v: { enum: ["it's"] } }, required: ['v'] } },
      "o'neil@example.org",
    );
    expect(text).toContain(`-H 'X-Forwarded-Email: o'\\''neil@example.org'`);
    expect(text).toContain(`{"v":"it'\\''s"}`);
    expect(text).toContain('To answer “m”:');
  });
});
