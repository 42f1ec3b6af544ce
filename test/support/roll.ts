import { type Answer, type Api, type Caller, type Extra, type JsonObject, api } from './http.js';
import { unique } from './unique.js';

/** What specs read of a session; the whole answer is there under its own names. */
export interface SessionBody extends JsonObject {
  readonly id: string;
  readonly agent_id: string | null;
  readonly title: string | null;
  readonly status: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly pending_elicitations: readonly PromptBody[];
}

export interface PromptBody extends JsonObject {
  readonly type: string;
  readonly elicitation_id: string;
  readonly params: JsonObject;
}

export interface ChildRow extends JsonObject {
  readonly id: string;
  readonly title: string | null;
  readonly tool: string | null;
  readonly session_name: string | null;
  readonly busy: boolean;
  readonly current_task_status: string | null;
  readonly last_message_preview: string | null;
  readonly pending_elicitations_count: number;
  readonly labels: Readonly<Record<string, string>>;
}

export interface List<Row> {
  readonly object: string;
  readonly data: readonly Row[];
  readonly first_id: string | null;
  readonly last_id: string | null;
  readonly has_more: boolean;
  /** Only where more follows. */
  readonly next_cursor?: string;
}

export interface ItemRow extends JsonObject {
  readonly id: string;
  readonly type: string;
}

export type Status = 'running' | 'waiting' | 'idle' | 'failed';

/**
 * The words that specs speak in: sessions brought about and moved by requests alone. Every word that does not give back
 * an answer fails unless the server did what was asked. Reads wait for the last write that went through the same roll.
 */
export interface Roll {
  readonly api: Api;
  /** Registers an agent that no other spec knows. */
  agent(): Promise<{ readonly id: string; readonly name: string }>;
  /** A top-level session of an agent of its own, unless `fields` name one. */
  root(fields?: JsonObject): Promise<SessionBody>;
  /** A child with its parent's agent, unless `fields` say otherwise. */
  child(parent: SessionBody, fields?: JsonObject): Promise<SessionBody>;
  /** Posts an event and gives back whatever the server said. */
  event(sessionId: string, type: string, data?: JsonObject, extra?: Extra): Promise<Answer<JsonObject>>;
  status(sessionId: string, status: Status, more?: JsonObject): Promise<void>;
  /** Stores a message and returns its item id. Content: one text, or blocks as they are. */
  message(
    sessionId: string,
    role: 'user' | 'assistant',
    content: string | readonly JsonObject[],
    more?: JsonObject,
  ): Promise<string>;
  /** Opens a prompt and returns its id. */
  ask(sessionId: string, data?: JsonObject): Promise<string>;
  resolve(sessionId: string, elicitationId: string, body: JsonObject): Promise<Answer<JsonObject>>;
  /** The answer, whatever it is. */
  remove(sessionId: string): Promise<Answer<JsonObject>>;
  /** The answer, whatever it is. */
  interrupt(sessionId: string, type?: 'interrupt' | 'stop_session'): Promise<Answer<JsonObject>>;
  close(sessionId: string, body?: JsonObject): Promise<SessionBody>;
  rename(sessionId: string, title: string | null): Promise<SessionBody>;
  snapshot(sessionId: string): Promise<SessionBody>;
  children(sessionId: string, query?: string): Promise<readonly ChildRow[]>;
  /** The row of this child under its parent. */
  row(child: SessionBody): Promise<ChildRow>;
  items(sessionId: string, query?: string): Promise<readonly ItemRow[]>;
  prompt(sessionId: string, elicitationId: string): Promise<JsonObject>;
}

export function roll(base: string, caller: Caller = {}): Roll {
  const direct = api(base, caller);
  let seen = 0n;

  function noted<T>(answer: Answer<T>): Answer<T> {
    const position = BigInt(answer.headers.get('rollcall-position') ?? '0');
    if (position > seen) seen = position;
    return answer;
  }

  async function read<T>(path: string): Promise<T> {
    const headers: Record<string, string> = seen === 0n ? {} : { 'rollcall-min-position': seen.toString() };
    return granted(await direct.get<T>(path, { headers }), 200);
  }

  async function event(sessionId: string, type: string, data: JsonObject = {}, extra?: Extra) {
    return noted(await direct.post(`/v1/sessions/${sessionId}/events`, { type, data }, extra));
  }

  async function agent() {
    const name = unique('agent');
    const made = noted(await direct.post<{ id: string; name: string }>('/v1/agents', { name }));
    return granted(made, 201);
  }

  async function create(fields: JsonObject): Promise<SessionBody> {
    return granted(noted(await direct.post<SessionBody>('/v1/sessions', fields)), 201);
  }

  return {
    api: direct,
    agent,
    event,
    root: async (fields = {}) => create({ agent_id: (await agent()).id, ...fields }),
    child: (parent, fields = {}) =>
      create({ agent_id: parent.agent_id, parent_session_id: parent.id, ...fields }),
    status: async (sessionId, status, more = {}) => {
      granted(await event(sessionId, 'external_session_status', { status, ...more }), 202);
    },
    message: async (sessionId, role, content, more = {}) => {
      const type = role === 'user' ? 'input_text' : 'output_text';
      const blocks = typeof content === 'string' ? [{ type, text: content }] : content;
      const author = role === 'assistant' ? { agent: 'worker' } : {};
      const item = {
        item_type: 'message',
        item_data: { role, content: blocks, ...author, ...more },
        response_id: 'seed',
      };
      const { item_id } = granted(await event(sessionId, 'external_conversation_item', item), 202);
      return String(item_id);
    },
    ask: async (sessionId, data = {}) => {
      const asked = await event(sessionId, 'mcp_elicitation', { message: 'Go ahead?', ...data });
      return String(granted(asked, 202)['elicitation_id']);
    },
    resolve: async (sessionId, elicitationId, body) =>
      noted(
        await direct.post(
          `/v1/sessions/${sessionId}/elicitations/${encodeURIComponent(elicitationId)}/resolve`,
          body,
        ),
      ),
    remove: async (sessionId) => noted(await direct.delete(`/v1/sessions/${sessionId}`)),
    interrupt: (sessionId, type = 'interrupt') => event(sessionId, type),
    close: async (sessionId, body = {}) =>
      granted(noted(await direct.post<SessionBody>(`/v1/sessions/${sessionId}/close`, body)), 200),
    rename: async (sessionId, title) =>
      granted(noted(await direct.patch<SessionBody>(`/v1/sessions/${sessionId}`, { title })), 200),
    snapshot: (sessionId) => read(`/v1/sessions/${sessionId}`),
    children: async (sessionId, query = '') =>
      (await read<List<ChildRow>>(`/v1/sessions/${sessionId}/child_sessions${query}`)).data,
    row: async (child) => {
      const parentId = String(child['parent_session_id']);
      const { data } = await read<List<ChildRow>>(`/v1/sessions/${parentId}/child_sessions?limit=1000`);
      const row = data.find(({ id }) => id === child.id);
      if (row === undefined) throw new Error(`${child.id} is not listed under ${parentId}`);
      return row;
    },
    items: async (sessionId, query = '') =>
      (await read<List<ItemRow>>(`/v1/sessions/${sessionId}/items${query}`)).data,
    prompt: (sessionId, elicitationId) =>
      read(`/v1/sessions/${sessionId}/elicitations/${encodeURIComponent(elicitationId)}`),
  };
}

/** The body of an answer with the wanted status; anything else fails with what the server said. */
export function granted<T>(answer: Answer<T>, status: number): T {
  if (answer.status === status) return answer.body;
  throw new Error(`expected ${status}, got ${answer.status}: ${answer.text.slice(0, 500)}`);
}
