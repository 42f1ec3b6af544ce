import { api, type JsonObject } from '../http.js';
import { unique } from '../unique.js';
import { postAll } from './burst.js';

export interface Subtree {
  readonly root: string;
  /** Everything below the root, parents before children. */
  readonly below: readonly string[];
}

async function made(base: string, path: string, body: JsonObject): Promise<string> {
  const answer = await api(base).post(path, body);
  if (answer.status !== 201) throw new Error(`${path} answered ${answer.status}: ${answer.text}`);
  return answer.body['id'] as string;
}

async function plantRoot(base: string): Promise<string> {
  return made(base, '/v1/sessions', { agent_id: await made(base, '/v1/agents', { name: unique('agent') }) });
}

/** A root with a line of sessions below it, each the child of the one before. */
export async function plantLine(base: string, length: number): Promise<Subtree> {
  const root = await plantRoot(base);
  const below: string[] = [];
  for (let depth = 1; depth <= length; depth += 1) {
    const parent = below.at(-1) ?? root;
    below.push(await made(base, '/v1/sessions', { parent_session_id: parent, title: `line:${depth}` }));
  }
  return { root, below };
}

/** A root with `width` children, each with `width` children, down to `depth` levels below the root. */
export async function plantTree(base: string, width: number, depth: number): Promise<Subtree> {
  const root = await plantRoot(base);
  const below: string[] = [];
  let level = [root];
  for (let reached = 0; reached < depth; reached += 1) {
    const posts = level.flatMap((parent) =>
      Array.from({ length: width }, (_, n) => ({
        key: unique('plant'),
        path: '/v1/sessions',
        body: { parent_session_id: parent, title: `tree:${n}` },
      })),
    );
    const fates = await postAll(base, posts, { lanes: 8 });
    level = [...fates.values()].map((fate) => {
      if (fate === 'unanswered' || fate.status !== 201) throw new Error('a child could not be planted');
      return fate.body['id'] as string;
    });
    below.push(...level);
  }
  return { root, below };
}

/** Makes every one of them work, and ask something. */
export async function setToWork(base: string, sessionIds: readonly string[]): Promise<void> {
  const event = (id: string, type: string, data: JsonObject) => ({
    key: unique('work'),
    path: `/v1/sessions/${id}/events`,
    body: { type, data },
  });
  const posts = sessionIds.flatMap((id) => [
    event(id, 'external_session_status', { status: 'running' }),
    event(id, 'mcp_elicitation', { elicitation_id: `prompt-${id}`, message: 'Go on?' }),
  ]);
  const fates = await postAll(base, posts, { lanes: 8 });
  for (const fate of fates.values()) {
    if (fate === 'unanswered' || fate.status !== 202) throw new Error('a session could not be set to work');
  }
}
