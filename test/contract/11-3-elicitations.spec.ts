import { describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { roll } from '../support/roll.js';
import { stack } from '../support/stack.js';

/** `contract/sessions.md` 11.3, with the event `mcp_elicitation` as the source of prompts. */
const on = roll(stack().a);

const unknownSessions = ['no-such-session', 'conv_no_such_session', `conv_${'0'.repeat(32)}`, randomUUID()];

it('row 1: an open prompt is pending, and tells what it asks', async () => {
  const session = await on.root();
  const id = await on.ask(session.id, {
    message: 'Allow Bash?',
    phase: 'pre_tool_use',
    policy_name: 'claude_native_permission',
    content_preview: 'Bash({"command":"date"})',
  });
  expect(await on.prompt(session.id, id)).toEqual({
    status: 'pending',
    message: 'Allow Bash?',
    phase: 'pre_tool_use',
    policy_name: 'claude_native_permission',
    content_preview: 'Bash({"command":"date"})',
  });
});

it('row 1: what a prompt does not say is an empty text', async () => {
  const session = await on.root();
  const id = await on.ask(session.id, { message: 'Only this' });
  expect(await on.prompt(session.id, id)).toEqual({
    status: 'pending',
    message: 'Only this',
    phase: '',
    policy_name: '',
    content_preview: '',
  });
});

it('row 1: the preview of the content is cut at 1024 characters', async () => {
  const session = await on.root();
  const id = await on.ask(session.id, { content_preview: '🟡'.repeat(1_100) });
  expect(await on.prompt(session.id, id)).toMatchObject({ content_preview: '🟡'.repeat(1_024) });
});

it('row 2: an unknown prompt reads resolved and nothing else', async () => {
  const session = await on.root();
  expect(await on.prompt(session.id, 'elicit_nobody')).toEqual({ status: 'resolved' });
});

it("row 2: another session's prompt reads resolved", async () => {
  const [one, other] = await Promise.all([on.root(), on.root()]);
  const id = await on.ask(one.id);
  expect(await on.prompt(other.id, id)).toEqual({ status: 'resolved' });
});

it.each(unknownSessions)('row 3: reading a prompt of the session %s is 404', async (id) => {
  expect((await on.api.get(`/v1/sessions/${id}/elicitations/elicit_1`)).status).toBe(404);
});

it('row 4: an accepted prompt reads resolved', async () => {
  const session = await on.root();
  const id = await on.ask(session.id);
  const accepted = await on.resolve(session.id, id, { action: 'accept' });
  expect([accepted.status, accepted.body]).toEqual([202, { queued: false }]);
  expect(await on.prompt(session.id, id)).toEqual({ status: 'resolved' });
});

it.each(unknownSessions)('row 5: resolving on the session %s is 404', async (id) => {
  expect((await on.resolve(id, 'elicit_1', { action: 'accept' })).status).toBe(404);
});

it('row 6: a second verdict is accepted and changes nothing', async () => {
  const session = await on.root();
  const id = await on.ask(session.id);
  await on.resolve(session.id, id, { action: 'accept' });
  const late = await on.resolve(session.id, id, { action: 'decline' });
  expect([late.status, late.body]).toEqual([202, { queued: false }]);
  expect(late.headers.get('rollcall-resolution')).toBe('answered');
});

it('row 7: a verdict for an unknown prompt is accepted', async () => {
  const session = await on.root();
  const answer = await on.resolve(session.id, 'elicit_nobody', { action: 'accept' });
  expect([answer.status, answer.body]).toEqual([202, { queued: false }]);
  expect(answer.headers.has('rollcall-resolution')).toBe(false);
});

describe('row 8: any other action is 422', () => {
  it.each([
    [{ action: 'yolo' }],
    [{ action: 'approve' }],
    [{ action: 'ACCEPT' }],
    [{ action: null }],
    [{}],
    [[]],
    [null],
  ])('%j', async (body) => {
    const session = await on.root();
    const id = await on.ask(session.id);
    const path = `/v1/sessions/${session.id}/elicitations/${id}/resolve`;
    const answer = await on.api.raw('POST', path, JSON.stringify(body), {
      headers: { 'content-type': 'application/json' },
    });
    expect(answer.status).toBe(422);
    expect(answer.body).toMatchObject({ detail: expect.any(Array) });
    expect(await on.prompt(session.id, id)).toMatchObject({ status: 'pending' });
  });

  it.each(unknownSessions)('also on the unknown session %s', async (id) => {
    const answer = await on.api.post(`/v1/sessions/${id}/elicitations/elicit_1/resolve`, { action: 'yolo' });
    expect(answer.status).toBe(422);
  });
});
