import { expect } from '@jest/globals';
import { api, type JsonObject } from '../http.js';
import type { ServerProcess } from '../process/server-process.js';
import type { Forest } from './burst.js';

/** A command at a node, and then its effect read at the same node. */
export async function say(node: ServerProcess, forest: Forest, text: string): Promise<void> {
  const caller = api(node.url);
  const body = { type: 'external_assistant_message', data: { agent: 'coder', text } };
  const answer = await caller.post(`/v1/sessions/${forest.children[0] ?? ''}/events`, body);
  expect([answer.status, answer.text]).toEqual([202, expect.stringContaining('item_id')]);
  const headers = { 'rollcall-min-position': answer.headers.get('rollcall-position') ?? '' };
  const path = `/v1/sessions/${forest.roots[0] ?? ''}/child_sessions`;
  const list = await caller.get<{ data: JsonObject[] }>(path, { headers });
  expect([list.status, list.body.data[0]?.['last_message_preview']]).toEqual([200, text]);
}
