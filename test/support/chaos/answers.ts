import { api, type JsonObject } from '../http.js';

/** What the read routes answer about everything, byte for byte: path to status, ETag and body. */
export async function allAnswers(base: string, minPosition: string): Promise<Record<string, string>> {
  const caller = api(base, { headers: { 'rollcall-min-position': minPosition } });
  const answers: Record<string, string> = {};
  const ask = async (path: string): Promise<JsonObject> => {
    const answer = await caller.get(path);
    answers[path] = `${answer.status} ${answer.headers.get('etag') ?? ''} ${answer.text}`;
    return answer.body;
  };
  const idsIn = (list: JsonObject): string[] =>
    (list['data'] as JsonObject[]).map((row) => row['id'] as string);
  const ids = idsIn(await ask('/v1/sessions?kind=any&limit=1000'));
  await ask('/v1/sessions?limit=1000&sort_by=updated_at');
  await ask('/v1/sessions?limit=3&order=asc');
  const known = new Set(ids);
  for (const id of known) {
    const prompts = (await ask(`/v1/sessions/${id}`))['pending_elicitations'] as JsonObject[];
    for (const prompt of prompts)
      await ask(`/v1/sessions/${id}/elicitations/${prompt['elicitation_id'] as string}`);
    await ask(`/v1/sessions/${id}/items?limit=1000`);
    for (const child of idsIn(await ask(`/v1/sessions/${id}/child_sessions?limit=1000`))) known.add(child);
  }
  return answers;
}
