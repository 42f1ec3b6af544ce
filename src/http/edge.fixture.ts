import { Agent, request as httpRequest } from 'node:http';
import type { Server } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Module } from '@nestjs/common';
import type { INestApplication, LoggerService, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { AuthOptions } from '../auth/auth-options.js';
import { AuthModule } from '../auth/auth.module.js';
import { createHttpAdapter } from './adapter.js';
import { HttpEdgeModule } from './http-edge.module.js';

const agent = new Agent({ keepAlive: true });

/** A listening application made of the edge and toy controllers, for the specs of this folder. */
export interface EdgeApp {
  readonly url: string;
  readonly port: number;
  /** Until the server has done with every connection, at most two seconds. */
  quiet(): Promise<void>;
  close(): Promise<void>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

export async function startEdge(
  controllers: Type[],
  auth: AuthOptions = { mode: 'none' },
  allowedOrigins: readonly string[] = [],
  logger: LoggerService | false = false,
): Promise<EdgeApp> {
  @Module({ imports: [HttpEdgeModule, AuthModule.forRoot(auth)], controllers })
  class ToyModule {}

  const adapter = createHttpAdapter({ mode: auth.mode, allowedOrigins: new Set(allowedOrigins) });
  const app: INestApplication = await NestFactory.create(ToyModule, adapter, { logger });
  await app.listen(0, '127.0.0.1');
  const server = app.getHttpServer() as Server;
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, port, quiet: () => untilQuiet(server), close: () => app.close() };
}

async function untilQuiet(server: Server): Promise<void> {
  agent.destroy();
  const connections = promisify(server.getConnections.bind(server));
  const limit = Date.now() + 2_000;
  while ((await connections()) > 0) {
    if (Date.now() > limit) throw new Error('The server still has connections');
    await setImmediate();
  }
  await setImmediate();
}

/** A request with headers that fetch would not let through (`Host`, repeated ones). */
export function send(
  app: EdgeApp,
  method: string,
  path: string,
  headers: Record<string, string | string[]> = {},
  body?: string | Buffer,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const target = { agent, host: '127.0.0.1', port: app.port, method, path, headers };
    const request = httpRequest(target, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text: Buffer.concat(chunks).toString(),
        }),
      );
    });
    request.on('error', reject);
    request.end(body);
  });
}

/** POST of raw bytes as JSON. */
export function postJson(
  app: EdgeApp,
  path: string,
  body: string | Buffer,
  type = 'application/json',
): Promise<Answer> {
  return send(app, 'POST', path, { 'content-type': type }, body);
}

/** Raw bytes on a fresh connection; what came back until the server closed it. */
export function sendBytes(app: EdgeApp, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(app.port, '127.0.0.1', () => socket.write(bytes));
    let received = '';
    socket.on('data', (chunk) => (received += chunk.toString()));
    socket.on('close', () => resolve(received));
    socket.on('error', reject);
  });
}

/** Announces a JSON body, waits for the server's go-ahead, and leaves in the middle of it. */
export function leaveEarly(app: EdgeApp, path: string): Promise<void> {
  const head = [
    'host: localhost',
    'content-type: application/json',
    'content-length: 100',
    'expect: 100-continue',
  ];
  return new Promise((resolve, reject) => {
    const socket = connect(app.port, '127.0.0.1', () =>
      socket.write(`POST ${path} HTTP/1.1\r\n${head.join('\r\n')}\r\n\r\n`),
    );
    socket.once('data', () => socket.write('{"a":', () => socket.destroy()));
    socket.on('close', () => resolve());
    socket.on('error', reject);
  });
}
