import { Body, Controller, Get, Post, Res } from '@nestjs/common';
import type { LoggerService } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { leaveEarly, send, sendBytes, startEdge } from './edge.fixture.js';
import type { EdgeApp } from './edge.fixture.js';

/** Keeps what is logged as errors, each as one text. */
class ErrorLog implements LoggerService {
  readonly errors: string[] = [];
  log(): void {}
  warn(): void {}
  error(...parts: unknown[]): void {
    this.errors.push(parts.join(' '));
  }
}

@Controller()
class ToyController {
  @Get('broken/:id')
  broken() {
    throw new Error('password=hunter2');
  }

  @Post('echo')
  echo(@Body() body: unknown) {
    return body;
  }

  @Get('half')
  async half(@Res() reply: FastifyReply) {
    reply.hijack();
    reply.raw.writeHead(200, { 'content-type': 'text/event-stream' });
    await new Promise((written) => reply.raw.write('data: 1\n\n', written));
    throw new Error('broke after the head');
  }
}

describe('what the filter logs', () => {
  const log = new ErrorLog();
  let app: EdgeApp;
  beforeAll(async () => {
    app = await startEdge([ToyController], { mode: 'none' }, [], log);
  });
  beforeEach(() => {
    log.errors.length = 0;
  });
  afterAll(() => app.close());

  it('is a fault, under the id that the client was given, with the route and not the path', async () => {
    const answer = await send(app, 'GET', '/broken/very-private');
    expect(answer.status).toBe(500);
    expect(answer.text).not.toContain('hunter2');
    expect(log.errors).toEqual([expect.stringContaining(String(answer.headers['x-request-id']))]);
    expect(log.errors).toEqual([expect.stringContaining('GET /broken/:id failed')]);
    expect(log.errors).toEqual([expect.stringContaining('hunter2')]);
  });

  it('is no refusal', async () => {
    expect((await send(app, 'GET', '/nope')).status).toBe(404);
    expect(log.errors).toEqual([]);
  });

  it('is no client that leaves in the middle of its body', async () => {
    await leaveEarly(app, '/echo');
    await app.quiet();
    expect(log.errors).toEqual([]);
  });

  it('a stream that fails after its head is cut off, not ended', async () => {
    const text = await sendBytes(app, 'GET /half HTTP/1.1\r\nhost: localhost\r\n\r\n');
    expect(text).toContain('data: 1');
    expect(text.endsWith('0\r\n\r\n')).toBe(false);
    expect(log.errors).toHaveLength(1);
  });
});
