import { Controller, Post } from '@nestjs/common';
import { postJson, send, startEdge } from './edge.fixture.js';
import { RequireJson } from './require-content-type.js';

@Controller()
class ToyController {
  @RequireJson()
  @Post('json')
  json() {
    return {};
  }
}

it('routes that insist on a content type say 415 without one, even without a body', async () => {
  const app = await startEdge([ToyController]);
  const bare = await send(app, 'POST', '/json');
  expect([bare.status, JSON.parse(bare.text)]).toEqual([415, { detail: 'Unsupported media type' }]);
  expect((await postJson(app, '/json', '{}')).status).toBe(201);
  expect((await postJson(app, '/json', '{}', 'application/x+json; charset=utf-8')).status).toBe(201);
  await app.close();
});
