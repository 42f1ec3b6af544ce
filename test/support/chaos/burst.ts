import { api, type Answer, type JsonObject } from '../http.js';
import { unique } from '../unique.js';

export interface Post {
  readonly key: string;
  readonly path: string;
  readonly body: JsonObject;
}

/** What came of a post: an answer, or none because the server was gone. */
export type Fate = Answer<JsonObject> | 'unanswered';

/** Posts with their keys, `lanes` at a time; `onAnswer` is told how many were answered so far. */
export async function postAll(
  base: string,
  posts: readonly Post[],
  options: { lanes?: number; onAnswer?: (answered: number) => void } = {},
): Promise<Map<Post, Fate>> {
  const { lanes = 32, onAnswer } = options;
  const caller = api(base);
  const fates = new Map<Post, Fate>();
  const waiting = [...posts];
  let answered = 0;
  const lane = async (): Promise<void> => {
    for (let post = waiting.shift(); post; post = waiting.shift()) {
      const fate = await caller
        .post(post.path, post.body, { headers: { 'idempotency-key': post.key } })
        .catch(() => 'unanswered' as const);
      fates.set(post, fate);
      if (fate !== 'unanswered') onAnswer?.((answered += 1));
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return fates;
}

export interface Forest {
  readonly agentId: string;
  readonly roots: readonly string[];
  readonly children: readonly string[];
}

/** A few roots with a few children each, to post to. */
export async function plantForest(base: string, roots = 3, childrenEach = 4): Promise<Forest> {
  const caller = api(base);
  const created = async (path: string, body: JsonObject): Promise<string> => {
    const answer = await caller.post(path, body);
    if (answer.status !== 201) throw new Error(`${path} answered ${answer.status}: ${answer.text}`);
    return answer.body['id'] as string;
  };
  const agentId = await created('/v1/agents', { name: unique('agent') });
  const rootIds: string[] = [];
  const children: string[] = [];
  for (let root = 0; root < roots; root += 1) {
    const id = await created('/v1/sessions', { agent_id: agentId });
    rootIds.push(id);
    for (let child = 0; child < childrenEach; child += 1) {
      children.push(await created('/v1/sessions', { parent_session_id: id, title: `worker:${child}` }));
    }
  }
  return { agentId, roots: rootIds, children };
}

/** A mix of creates, items, statuses, prompts and verdicts; the same forest and count give the same mix. */
export function mixedPosts({ agentId, roots, children }: Forest, count: number): Post[] {
  const all = [...roots, ...children];
  const pick = (from: readonly string[], index: number): string => from[index % from.length] ?? '';
  const event = (session: string, type: string, data: JsonObject): { path: string; body: JsonObject } => ({
    path: `/v1/sessions/${session}/events`,
    body: { type, data },
  });
  const kinds: ((index: number) => { path: string; body: JsonObject })[] = [
    () => ({ path: '/v1/sessions', body: { agent_id: agentId } }),
    (i) => ({ path: '/v1/sessions', body: { parent_session_id: pick(roots, i), title: `burst:${i}` } }),
    (i) => event(pick(all, i), 'external_assistant_message', { agent: 'coder', text: `step ${i}` }),
    (i) =>
      event(pick(children, i), 'external_session_status', {
        status: pick(['running', 'idle', 'waiting', 'failed'], i),
      }),
    (i) =>
      event(pick(children, i), 'mcp_elicitation', { elicitation_id: `prompt-${i}`, message: `May I ${i}?` }),
    (i) => event(pick(children, i - 1), 'approval', { elicitation_id: `prompt-${i - 1}`, action: 'accept' }),
  ];
  return Array.from({ length: count }, (_, index) => {
    const kind = kinds[index % kinds.length] ?? kinds[0];
    return { key: unique('burst'), ...(kind?.(index) ?? { path: '', body: {} }) };
  });
}
