import { Controller, Get, Post } from '@nestjs/common';
import { send, sendBytes, startEdge } from './edge.fixture.js';
import type { EdgeApp } from './edge.fixture.js';

@Controller('toy')
class ToyController {
  @Get()
  read() {
    return {};
  }

  @Post()
  write() {
    return {};
  }
}

const apps: EdgeApp[] = [];
async function start(...args: Parameters<typeof startEdge>): Promise<EdgeApp> {
  const app = await startEdge(...args);
  apps.push(app);
  return app;
}
afterAll(() => Promise.all(apps.map((app) => app.close())));

const HEADER_AUTH = {
  mode: 'header',
  header: 'x-forwarded-email',
  prefix: '',
  administrators: new Set<string>(),
} as const;
const USER = { 'x-forwarded-email': 'ada@example.com' };

describe('the Host header, without authentication', () => {
  let app: EdgeApp;
  beforeAll(async () => {
    app = await start([ToyController]);
  });

  it.each(['localhost', 'LOCALHOST:6767', '127.0.0.1', '127.8.9.255:1', '[::1]', '[::1]:6767'])(
    '%s is served',
    async (host) => {
      expect((await send(app, 'GET', '/toy', { host })).status).toBe(200);
    },
  );

  it.each([
    'evil.example',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '127.0.0.256',
    '128.0.0.1',
    '0.0.0.0',
    '::1',
    'localhost:x',
    'user@localhost',
  ])('%j is refused, on every path and method', async (host) => {
    for (const [method, path] of [
      ['GET', '/toy'],
      ['POST', '/toy'],
      ['GET', '/nope'],
      ['GET', '/toy/%ff'],
    ] as const) {
      const answer = await send(app, method, path, { host });
      expect(answer.status).toBe(403);
      expect(JSON.parse(answer.text)).toEqual({
        detail: expect.stringContaining('Host not allowed') as string,
      });
      expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f]{32}$/);
    }
  });

  it('must be there', async () => {
    expect(await sendBytes(app, 'GET /toy HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 403 /);
    expect(await sendBytes(app, 'GET /toy HTTP/1.0\r\nhost:\r\n\r\n')).toMatch(/^HTTP\/1\.1 403 /);
  });

  it('is missed with 400 behind a proxy', async () => {
    const proxied = await start([ToyController], HEADER_AUTH);
    const text = await sendBytes(proxied, 'GET /toy HTTP/1.1\r\nconnection: close\r\n\r\n');
    expect(text).toMatch(/^HTTP\/1\.1 400 [\s\S]*x-request-id: [0-9a-f]{32}[\s\S]*"invalid_input"/);
  });

  it('is not looked at when a proxy authenticates', async () => {
    const proxied = await start([ToyController], HEADER_AUTH);
    expect((await send(proxied, 'GET', '/toy', { host: 'rollcall.example', ...USER })).status).toBe(200);
  });
});

describe('the Origin header on unsafe methods', () => {
  const LOOPBACK = [
    'http://localhost',
    'http://localhost:5173',
    'https://127.0.0.1:8443',
    'http://[::1]:3000',
  ];
  const FOREIGN = [
    'https://evil.example',
    'null',
    '',
    'http://localhost.evil.example',
    'file://',
    'http://localhost/x',
  ];

  it.each([...LOOPBACK, 'omnigent://internal', 'https://listed.example'])(
    '%j passes without authentication',
    async (origin) => {
      const listed = await start([ToyController], { mode: 'none' }, ['https://listed.example']);
      expect((await send(listed, 'POST', '/toy', { origin })).status).toBe(201);
    },
  );

  it.each(FOREIGN)('%j is 403 without authentication, but may read', async (origin) => {
    const app = await start([ToyController]);
    const refused = await send(app, 'POST', '/toy', { origin });
    expect([refused.status, JSON.parse(refused.text)]).toEqual([403, { detail: 'Origin not allowed' }]);
    expect((await send(app, 'GET', '/toy', { origin })).status).toBe(200);
  });

  it('is free behind a proxy until a list is configured', async () => {
    const open = await start([ToyController], HEADER_AUTH);
    const listed = await start([ToyController], HEADER_AUTH, ['https://ui.example']);
    const status = async (app: EdgeApp, origin?: string) =>
      (await send(app, 'POST', '/toy', origin === undefined ? USER : { ...USER, origin })).status;
    expect(await status(open, 'https://evil.example')).toBe(201);
    expect(await status(listed, 'https://ui.example')).toBe(201);
    expect(await status(listed, 'omnigent://internal')).toBe(201);
    expect(await status(listed)).toBe(201);
    expect(await status(listed, 'https://evil.example')).toBe(403);
    expect(await status(listed, 'http://localhost')).toBe(403);
  });
});
