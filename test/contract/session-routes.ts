import type { JsonObject } from '../support/http.js';

export interface RouteCall {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: JsonObject;
}

/** A well-formed request to every route below one session: for rules that hold on all of them. */
export function sessionRoutes(id: string): readonly RouteCall[] {
  const base = `/v1/sessions/${id}`;
  return [
    { method: 'GET', path: base },
    { method: 'GET', path: `${base}/child_sessions` },
    { method: 'GET', path: `${base}/items` },
    { method: 'GET', path: `${base}/elicitations/elicit_1` },
    { method: 'PATCH', path: base, body: { labels: { colour: 'red' } } },
    { method: 'POST', path: `${base}/close`, body: {} },
    { method: 'POST', path: `${base}/elicitations/elicit_1/resolve`, body: { action: 'accept' } },
    ...sessionEvents.map((body) => ({ method: 'POST' as const, path: `${base}/events`, body })),
    { method: 'DELETE', path: base },
  ];
}

const sessionEvents: readonly JsonObject[] = [
  { type: 'external_session_status', data: { status: 'running' } },
  { type: 'external_assistant_message', data: { agent: 'worker', text: 'hello' } },
  {
    type: 'external_conversation_item',
    data: {
      item_type: 'message',
      item_data: { role: 'user', content: [{ type: 'input_text', text: 'hi' }] },
    },
  },
  { type: 'mcp_elicitation', data: { message: 'Go ahead?', elicitation_id: 'elicit_1' } },
  { type: 'approval', data: { elicitation_id: 'elicit_1', action: 'accept' } },
  { type: 'external_elicitation_resolved', data: { elicitation_id: 'elicit_1' } },
  { type: 'message', data: { role: 'user', content: [{ type: 'input_text', text: 'hi' }] } },
  { type: 'interrupt', data: {} },
  { type: 'stop_session', data: {} },
];

export function named({ method, path, body }: RouteCall): string {
  const type = body?.['type'];
  const route = path.replace(/^\/v1\/sessions\/[^/]+/, '');
  return `${method} …${route}${typeof type === 'string' ? ` (${type})` : ''}`;
}
