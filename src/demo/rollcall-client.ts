import { setTimeout as delay } from 'node:timers/promises';
import type { Call } from './call.js';
import { DemoError } from './demo-error.js';

const ANSWER_WITHIN_MS = 30_000;
/** Together with the pauses some twenty seconds: a server may be started again meanwhile. */
const TRIES = 14;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;

export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** One running server, spoken to like any client does: over HTTP, with an Idempotency-Key on whatever it repeats. */
export class RollcallClient {
  private newest = 0n;

  constructor(
    readonly url: string,
    private readonly user: string | null,
  ) {}

  /** Throws `DemoError` unless a Rollcall that is ready answers at the address. */
  async meet(): Promise<void> {
    const response = await this.request('GET', '/health').catch((error: unknown) => {
      throw new DemoError(
        `nothing answers at ${this.url} (${reasonOf(error)}); start Rollcall with npm start, or name it with --url`,
      );
    });
    await response.body?.cancel();
    if (response.status === 503) throw new DemoError(`Rollcall at ${this.url} is not ready yet (503)`);
    if (!response.ok || !response.headers.has('x-request-id')) {
      throw new DemoError(`what answers at ${this.url} is not Rollcall (GET /health: ${response.status})`);
    }
  }

  /** Repeats the call, under its key, while the server is away or not ready. Refusals are answers. */
  async send(call: Call, key: string): Promise<Answer> {
    const headers = { 'content-type': 'application/json', 'idempotency-key': key };
    return this.patiently(() => this.request(call.method, call.path, headers, JSON.stringify(call.body)));
  }

  /** Reads at least what this client has written. Throws `DemoError` on any answer but a 2xx. */
  async get<T>(path: string): Promise<T> {
    const headers = this.newest === 0n ? {} : { 'rollcall-min-position': this.newest.toString() };
    const answer = await this.patiently(() => this.request('GET', path, headers));
    return granted(`GET ${path}`, answer) as T;
  }

  private async patiently(request: () => Promise<Response>): Promise<Answer> {
    for (let tries = 1, pause = FIRST_PAUSE_MS; ; tries += 1, pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      try {
        const response = await request();
        const text = await response.text();
        if (response.status !== 503 || tries === TRIES) {
          this.notice(response.headers.get('rollcall-position'));
          return { status: response.status, body: text === '' ? null : (JSON.parse(text) as unknown) };
        }
      } catch (error) {
        if (tries === TRIES) throw new DemoError(`${this.url} went away (${reasonOf(error)})`);
      }
      await delay(pause);
    }
  }

  private request(method: string, path: string, headers: object = {}, body?: string): Promise<Response> {
    return fetch(`${this.url}${path}`, {
      method,
      headers: { ...(this.user === null ? {} : { 'x-forwarded-email': this.user }), ...headers },
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
      ...(body === undefined ? {} : { body }),
    });
  }

  private notice(position: string | null): void {
    if (position !== null && /^\d{1,19}$/.test(position) && BigInt(position) > this.newest)
      this.newest = BigInt(position);
  }
}

/** The body of a 2xx. Throws `DemoError` with what the server said. */
export function granted(what: string, { status, body }: Answer): unknown {
  if (status >= 200 && status < 300) return body;
  if (status === 401) throw new DemoError('the server asks who you are: pass --user you@example.org');
  const { error, detail } = (body ?? {}) as { error?: { message?: string }; detail?: unknown };
  throw new DemoError(`${what} was refused (${status}): ${error?.message ?? JSON.stringify(detail ?? body)}`);
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  const { code, name } = cause as { code?: unknown; name?: unknown };
  return typeof code === 'string' ? code : name === 'TimeoutError' ? 'no answer in 30 s' : String(cause);
}
