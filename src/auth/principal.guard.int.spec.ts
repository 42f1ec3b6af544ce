import { Controller, Get } from '@nestjs/common';
import { send, startEdge } from '../http/edge.fixture.js';
import type { EdgeApp } from '../http/edge.fixture.js';
import type { Principal } from './principal.js';
import { CurrentPrincipal, Public } from './request-principal.js';

@Controller()
class ToyController {
  @Get('me')
  me(@CurrentPrincipal() principal: Principal) {
    return principal;
  }

  @Public()
  @Get('health')
  health() {
    return {};
  }

  @Public()
  @Get('public')
  mistaken(@CurrentPrincipal() principal: Principal) {
    return principal;
  }
}

const HEADER = 'x-forwarded-email';

describe('without authentication', () => {
  it('everybody is the one anonymous principal, whatever they claim', async () => {
    const app = await startEdge([ToyController]);
    const answer = await send(app, 'GET', '/me', { [HEADER]: 'ada@example.com' });
    expect(JSON.parse(answer.text)).toEqual({ kind: 'anonymous' });
    await app.close();
  });
});

describe('behind a proxy that names the user', () => {
  let app: EdgeApp;
  beforeAll(async () => {
    app = await startEdge([ToyController], {
      mode: 'header',
      header: HEADER,
      prefix: 'accounts.example.com:',
      administrators: new Set(),
    });
  });
  afterAll(() => app.close());

  it.each([
    ['ada@example.com', 'ada@example.com'],
    ['accounts.example.com:ada@example.com', 'ada@example.com'],
    [Buffer.from('zoë@example.com').toString('latin1'), 'zoë@example.com'],
  ])('%j is a user', async (value, id) => {
    const answer = await send(app, 'GET', '/me', { [HEADER]: value });
    expect([answer.status, JSON.parse(answer.text)]).toEqual([200, { kind: 'user', id }]);
  });

  it.each([
    ['absent', undefined],
    ['empty', ''],
    ['blank', '  '],
    ['reserved', 'local'],
    ['reserved behind the prefix', 'accounts.example.com:__public__'],
    ['not UTF-8', '\xff'],
    ['two names in one', 'ada@example.com, bob@example.com'],
    ['repeated', ['ada@example.com', 'bob@example.com']],
    ['repeated and equal', ['ada@example.com', 'ada@example.com']],
    ['longer than 320 characters', 'a'.repeat(321)],
  ])('a name that is %s is 401', async (_, value) => {
    const answer = await send(app, 'GET', '/me', value === undefined ? {} : { [HEADER]: value });
    expect([answer.status, JSON.parse(answer.text)]).toEqual([
      401,
      { error: { code: 'unauthorized', message: 'Authentication required.' } },
    ]);
  });

  it('a public route serves users and strangers', async () => {
    expect((await send(app, 'GET', '/health')).status).toBe(200);
    const user = await send(app, 'GET', '/public', { [HEADER]: 'ada@example.com' });
    expect(JSON.parse(user.text)).toEqual({ kind: 'user', id: 'ada@example.com' });
  });

  it('a stranger on a public route is nobody, not the anonymous principal who may see everything', async () => {
    expect((await send(app, 'GET', '/public')).status).toBe(500);
  });
});
