/** What a request gave back. `body` is the parsed JSON of a JSON answer; `text` is what came over the wire. */
export interface Answer<T> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: T;
  readonly text: string;
}

export type JsonObject = Record<string, unknown>;

export interface Extra {
  readonly headers?: Record<string, string>;
}

export interface Caller {
  /** The principal, sent as X-Forwarded-Email; only a server with ROLLCALL_AUTH=header looks at it. */
  readonly user?: string;
  readonly headers?: Record<string, string>;
}

export interface Api {
  get<T = JsonObject>(path: string, extra?: Extra): Promise<Answer<T>>;
  post<T = JsonObject>(path: string, body?: unknown, extra?: Extra): Promise<Answer<T>>;
  put<T = JsonObject>(path: string, body?: unknown, extra?: Extra): Promise<Answer<T>>;
  patch<T = JsonObject>(path: string, body?: unknown, extra?: Extra): Promise<Answer<T>>;
  delete<T = JsonObject>(path: string, extra?: Extra): Promise<Answer<T>>;
  /** Any method with the body as it stands: for malformed JSON, other content types and the like. */
  raw<T = JsonObject>(
    method: string,
    path: string,
    body: string | Uint8Array | undefined,
    extra?: Extra,
  ): Promise<Answer<T>>;
}

/** A small client of one server, such as `stack().a`, on behalf of one caller. */
export function api(base: string, caller: Caller = {}): Api {
  const own: Record<string, string> = {
    ...(caller.user === undefined ? {} : { 'x-forwarded-email': caller.user }),
    ...caller.headers,
  };
  const json = { 'content-type': 'application/json' };

  async function raw<T>(
    method: string,
    path: string,
    body: string | Uint8Array | undefined,
    extra: Extra = {},
  ): Promise<Answer<T>> {
    const response = await fetch(new URL(path, base), {
      method,
      headers: { ...own, ...extra.headers },
      redirect: 'manual',
      ...(body === undefined ? {} : { body }),
    });
    const text = await response.text();
    const isJson = /\bjson\b/.test(response.headers.get('content-type') ?? '') && text !== '';
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: (isJson ? JSON.parse(text) : undefined) as T,
    };
  }

  function send<T>(method: string, path: string, body: unknown, extra: Extra = {}): Promise<Answer<T>> {
    if (body === undefined) return raw<T>(method, path, undefined, extra);
    return raw<T>(method, path, JSON.stringify(body), { headers: { ...json, ...extra.headers } });
  }

  return {
    raw,
    get: (path, extra) => send('GET', path, undefined, extra),
    post: (path, body, extra) => send('POST', path, body, extra),
    put: (path, body, extra) => send('PUT', path, body, extra),
    patch: (path, body, extra) => send('PATCH', path, body, extra),
    delete: (path, extra) => send('DELETE', path, undefined, extra),
  };
}
