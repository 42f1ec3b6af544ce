import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { Module } from '@nestjs/common';
import type { INestApplication, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { AuthOptions } from '../auth/auth-options.js';
import { AuthModule } from '../auth/auth.module.js';
import { createHttpAdapter } from './adapter.js';
import { HttpEdgeModule } from './http-edge.module.js';

/** A listening application made of the edge and toy controllers, for the specs of this folder. */
export interface EdgeApp {
  readonly url: string;
  readonly port: number;
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
): Promise<EdgeApp> {
  @Module({ imports: [HttpEdgeModule, AuthModule.forRoot(auth)], controllers })
  class ToyModule {}

  const adapter = createHttpAdapter({ mode: auth.mode, allowedOrigins: new Set(allowedOrigins) });
  const app: INestApplication = await NestFactory.create(ToyModule, adapter, { logger: false });
  await app.listen(0, '127.0.0.1');
  const { port } = app.getHttpServer().address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, port, close: () => app.close() };
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
    const request = httpRequest({ host: '127.0.0.1', port: app.port, method, path, headers }, (response) => {
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
