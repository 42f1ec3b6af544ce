import { describe, expect, it } from '@jest/globals';
import { isRefusal } from '../../refusal.js';
import { ITEM_TYPES, toItemPayload } from './item-payload.js';

const text = [{ type: 'input_text', text: 'hi' }];

describe('what is stored of an item (contract/sessions.md 5.2)', () => {
  it.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ['message', { role: 'user', content: text, id: 'x', agent: null }, { role: 'user', content: text }],
    [
      'message',
      { role: 'assistant', content: [], agent: 'a' },
      { role: 'assistant', content: [], model: 'a' },
    ],
    [
      'message',
      { role: 'user', content: text, is_meta: false, interrupted: true },
      { role: 'user', content: text, interrupted: true },
    ],
    [
      'function_call',
      { agent: 'a', name: 'n', arguments: '{}', call_id: 'c' },
      { model: 'a', name: 'n', arguments: '{}', call_id: 'c' },
    ],
    ['function_call_output', { call_id: 'c', output: '' }, { call_id: 'c', output: '' }],
    [
      'error',
      { source: 'llm', code: 'c', message: '  boom \n' },
      { source: 'llm', code: 'c', message: 'boom' },
    ],
    ['reasoning', { agent: 'a', summary: [] }, { model: 'a', summary: [] }],
    [
      'compaction',
      { summary: 's', last_item_id: 'i', token_count: 3, window_id: null },
      { summary: 's', last_item_id: 'i', token_count: 3 },
    ],
    ['native_tool', { item: { any: 1 } }, { item: { any: 1 } }],
    [
      'resource_event',
      { event_type: 'e', resource_id: 'r', resource_type: 't' },
      { event_type: 'e', resource_id: 'r', resource_type: 't' },
    ],
    [
      'routing_decision',
      { model: 'm', applied: true, rationale: '', agent: 'a' },
      { model: 'm', applied: true, rationale: '', scope: 'turn', agent: 'a' },
    ],
    [
      'slash_command',
      { agent: 'a', name: 'n', arguments: '' },
      { model: 'a', kind: 'skill', name: 'n', arguments: '' },
    ],
    ['terminal_command', { kind: 'input', input: 'ls' }, { kind: 'input', input: 'ls' }],
  ])('%s %j is stored as %j', (type, data, payload) => {
    expect(toItemPayload(type, data)).toEqual(payload);
    expect(ITEM_TYPES).toContain(type);
  });

  it.each<[string, Record<string, unknown>, RegExp]>([
    ['telepathy', {}, /Unknown item type/],
    ['message', { content: text }, /"message" at \/role/],
    ['message', { role: 'system', content: text }, /\/role/],
    ['message', { role: 'user', content: 'hi' }, /\/content/],
    ['message', { role: 'assistant', content: text }, /\/agent: required for assistant/],
    ['function_call', { agent: 'a', name: 'n', arguments: {}, call_id: 'c' }, /\/arguments/],
    ['error', { source: 'llm', code: 'c', message: ' \n ' }, /\/message/],
    ['compaction', { summary: 's', last_item_id: 'i', token_count: -1 }, /\/token_count/],
    ['terminal_command', { kind: 'both' }, /\/kind/],
  ])('%s %j is refused: %s', (type, data, why) => {
    const refusal = toItemPayload(type, data);
    expect(isRefusal(refusal)).toBe(true);
    expect(refusal).toMatchObject({ code: 'invalid_input', message: expect.stringMatching(why) as unknown });
  });
});
