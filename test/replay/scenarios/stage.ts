import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { api, type Answer } from '../../support/http.js';

/** Where a scenario plays: a running server, and how fast time passes between two of its lines. */
export interface Stage {
  post<T>(path: string, body: object): Promise<T>;
  patch(path: string, body: object): Promise<void>;
  remove(path: string): Promise<void>;
  pause(seconds: number): Promise<void>;
}

/** `pace` 1 takes every pause as it is written, 0 none at all. */
export function stageAt(url: string, pace: number): Stage {
  const server = api(url);
  return {
    post: async <T>(path: string, body: object) => {
      const headers = { 'idempotency-key': randomUUID() };
      return granted(`POST ${path}`, await server.post<T>(path, body, { headers }));
    },
    patch: async (path, body) => void granted(`PATCH ${path}`, await server.patch(path, body)),
    remove: async (path) => void granted(`DELETE ${path}`, await server.delete(path)),
    pause: (seconds) => delay(seconds * 1000 * pace),
  };
}

function granted<T>(what: string, answer: Answer<T>): T {
  if (answer.status >= 300) throw new Error(`${what} was answered ${answer.status}: ${answer.text}`);
  return answer.body;
}
