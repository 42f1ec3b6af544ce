import { Body, Controller, Get, Param, Post, Put } from '@nestjs/common';
import { postJson, send, sendBytes, startEdge } from './edge.fixture.js';
import type { EdgeApp } from './edge.fixture.js';
import { JSON_BODY_LIMIT } from './adapter.js';

const HEX = '0123456789abcdef0123456789abcdef';

@Controller('v1/things')
class ToyController {
  @Post()
  create(@Body() body: unknown) {
    return { body: body ?? 'nothing', polluted: 'polluted' in {} };
  }

  @Get(':id')
  read(@Param('id') id: string) {
    return { length: id.length, position: 12n, text: 'a\ud800\0b' };
  }

  @Put(':id')
  replace() {
    throw new Error('select * from secrets');
  }
}

let app: EdgeApp;
beforeAll(async () => {
  app = await startEdge([ToyController]);
});
afterAll(() => app.close());

function jsonOf(text: string): unknown {
  return JSON.parse(text);
}

describe('bodies', () => {
  it.each([
    'application/json',
    'application/json; charset=utf-8',
    'Application/JSON',
    'application/vnd.rollcall.v1+json',
    'application/merge-patch+json; charset=utf-8',
  ])('%s is JSON', async (type) => {
    const answer = await postJson(app, '/v1/things', '{"a":[1,"ä"]}', type);
    expect([answer.status, jsonOf(answer.text)]).toEqual([201, { body: { a: [1, 'ä'] }, polluted: false }]);
  });

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'text/json',
    'nonsense',
  ])('%s is 415', async (type) => {
    const answer = await postJson(app, '/v1/things', 'a=1', type);
    expect([answer.status, jsonOf(answer.text)]).toEqual([415, { detail: 'Unsupported media type' }]);
  });

  it('without a content type is 415, and no body at all reads as none', async () => {
    expect((await send(app, 'POST', '/v1/things', {}, '{}')).status).toBe(415);
    const empty = await send(app, 'POST', '/v1/things');
    expect([empty.status, jsonOf(empty.text)]).toEqual([201, { body: 'nothing', polluted: false }]);
  });

  it.each([
    ['{', 1],
    ['{"a":', 5],
    ['{"a":}', 0],
    ['{"a":1} x', 8],
    [' ', 1],
  ])('%j is malformed at %d', async (text, offset) => {
    const answer = await postJson(app, '/v1/things', text);
    expect([answer.status, jsonOf(answer.text)]).toEqual([
      422,
      { detail: [{ type: 'json_invalid', loc: ['body', offset], msg: 'JSON decode error', input: {} }] },
    ]);
    expect(answer.headers['connection']).not.toBe('close');
  });

  it('that is not UTF-8 is malformed, and a byte order mark is not', async () => {
    const latin = await postJson(app, '/v1/things', Buffer.from('"\xe4"', 'latin1'));
    expect(latin.status).toBe(422);
    expect(jsonOf(latin.text)).toMatchObject({ detail: [{ type: 'json_invalid' }] });
    const marked = await postJson(app, '/v1/things', '\ufeff{"a":1}');
    expect(jsonOf(marked.text)).toMatchObject({ body: { a: 1 } });
  });

  it('with __proto__ and constructor keys keeps them and pollutes nothing', async () => {
    const text = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}';
    const answer = await postJson(app, '/v1/things', text);
    expect(answer.text).toBe(`{"body":${text},"polluted":false}`);
  });

  it('may nest 256 levels and no more', async () => {
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
    expect((await postJson(app, '/v1/things', nested(256))).status).toBe(201);
    expect((await postJson(app, '/v1/things', nested(257))).status).toBe(422);
    expect((await postJson(app, '/v1/things', nested(1_000_000))).status).toBe(422);
  });

  it('with a number beyond a double is refused, not stored as null', async () => {
    expect((await postJson(app, '/v1/things', '{"a":[1e999]}')).status).toBe(422);
  });

  it('of 16 MiB pass, larger ones are 413', async () => {
    const text = (size: number) => `"${'a'.repeat(size - 2)}"`;
    expect((await postJson(app, '/v1/things', text(JSON_BODY_LIMIT))).status).toBe(201);
    const tooLarge = await postJson(app, '/v1/things', text(JSON_BODY_LIMIT + 1));
    expect([tooLarge.status, jsonOf(tooLarge.text)]).toEqual([
      413,
      { error: { code: 'payload_too_large', message: 'The request body is too large.' } },
    ]);
  });
});

describe('bodies in unusual forms', () => {
  it('chunked ones are under the same limit', async () => {
    const answer = await send(
      app,
      'POST',
      '/v1/things',
      { 'content-type': 'application/json', 'transfer-encoding': 'chunked' },
      Buffer.alloc(JSON_BODY_LIMIT + 1, ' '),
    );
    expect(answer.status).toBe(413);
  });

  it('compressed ones are 415', async () => {
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
    expect((await send(app, 'POST', '/v1/things', headers, '{}')).status).toBe(415);
  });
});

describe('paths', () => {
  const notFound = { error: { code: 'not_found', message: 'Not found.' } };

  it.each([
    '/nope',
    '/',
    '/v1/things/%ff',
    '/v1/things/%',
    '/v1/things/a/b',
    `/v1/things/${'a'.repeat(4097)}`,
  ])('%s is 404', async (path) => {
    const answer = await send(app, 'GET', path);
    expect([answer.status, jsonOf(answer.text)]).toEqual([404, notFound]);
    expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f]{32}$/);
    expect(answer.headers['content-type']).toMatch(/^application\/json/);
  });

  it('are unknown before their body is looked at', async () => {
    expect((await postJson(app, '/nope', '{', 'text/plain')).status).toBe(404);
  });

  it('may have long parameters and a trailing slash', async () => {
    const long = await send(app, 'GET', `/v1/things/${'a'.repeat(4096)}`);
    expect(jsonOf(long.text)).toMatchObject({ length: 4096 });
    expect((await send(app, 'GET', `/v1/things/${HEX}/`)).status).toBe(200);
  });

  it.each([
    ['DELETE', '/v1/things', 'POST, OPTIONS'],
    ['GET', '/v1/things?x=1', 'POST, OPTIONS'],
    ['POST', `/v1/things/${HEX}`, 'GET, HEAD, PUT, OPTIONS'],
    ['PROPFIND', `/v1/things/${HEX}/`, 'GET, HEAD, PUT, OPTIONS'],
  ])('%s %s is 405 and says what is allowed', async (method, path, allow) => {
    const answer = await send(app, method, path);
    expect([answer.status, jsonOf(answer.text)]).toEqual([405, { detail: 'Method Not Allowed' }]);
    expect(answer.headers['allow']).toBe(allow);
  });

  it('answer OPTIONS with what is allowed, and HEAD like GET without a body', async () => {
    const options = await send(app, 'OPTIONS', '/v1/things');
    expect([options.status, options.headers['allow'], options.text]).toEqual([204, 'POST, OPTIONS', '']);
    expect((await send(app, 'OPTIONS', '/nope')).status).toBe(404);
    const head = await send(app, 'HEAD', `/v1/things/${HEX}`);
    expect([head.status, head.text]).toEqual([200, '']);
    expect(Number(head.headers['content-length'])).toBeGreaterThan(0);
  });
});

describe('answers', () => {
  it('carry a fresh request id and the standing headers', async () => {
    const [first, second] = await Promise.all([
      send(app, 'GET', '/v1/things/a'),
      send(app, 'GET', '/v1/things/a'),
    ]);
    expect(first.headers['x-request-id']).toMatch(/^[0-9a-f]{32}$/);
    expect(first.headers['x-request-id']).not.toBe(second.headers['x-request-id']);
    expect(first.headers['x-content-type-options']).toBe('nosniff');
  });

  it('write positions as strings and show what UTF-8 cannot carry as U+FFFD', async () => {
    const answer = await send(app, 'GET', '/v1/things/a');
    expect(jsonOf(answer.text)).toEqual({ length: 1, position: '12', text: 'a\ufffd\ufffdb' });
  });

  it('to faults of our own tell nothing', async () => {
    const answer = await send(app, 'PUT', '/v1/things/a');
    expect([answer.status, jsonOf(answer.text)]).toEqual([
      500,
      { error: { code: 'internal_error', message: 'An internal error occurred.' } },
    ]);
    expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f]{32}$/);
  });

  it.each([
    ['no HTTP at all', 'hello\r\n\r\n', 'HTTP/1.1 400 '],
    [
      'endless headers',
      `GET / HTTP/1.1\r\nhost: localhost\r\nx: ${'a'.repeat(40_000)}\r\n\r\n`,
      'HTTP/1.1 431 ',
    ],
    [
      'two lengths',
      'POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab',
      'HTTP/1.1 400 ',
    ],
  ])('to %s are JSON with a request id', async (_, bytes, statusLine) => {
    const text = await sendBytes(app, bytes);
    expect(text.startsWith(statusLine)).toBe(true);
    expect(text).toMatch(/\r\nx-request-id: [0-9a-f]{32}\r\n/);
    expect(
      text.endsWith('{"error":{"code":"invalid_input","message":"The request is not valid HTTP."}}'),
    ).toBe(true);
  });

  it('with two hosts are refused, whichever comes first', async () => {
    for (const hosts of [
      ['127.0.0.1', 'evil.example'],
      ['evil.example', '127.0.0.1'],
    ]) {
      const head = hosts.map((host) => `Host: ${host}`).join('\r\n');
      const text = await sendBytes(app, `GET /nowhere HTTP/1.1\r\n${head}\r\nConnection: close\r\n\r\n`);
      expect(text).toMatch(/^HTTP\/1\.1 40[03] /);
    }
  });
});
