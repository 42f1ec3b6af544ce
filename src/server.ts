import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { pino } from 'pino';
import { AppModule } from './app.module.js';
import type { AuthOptions } from './auth/auth-options.js';
import type { AuthMode, Config } from './config/config.js';
import { startCore } from './core.js';
import { createHttpAdapter } from './http/adapter.js';

/** A start does not say that it listens before it can serve; one that has a long log to fill from does, and reads wait. */
const READY_MS = 5_000;

export interface RunningServer {
  readonly port: number;
  close(): Promise<void>;
}

export interface ServerParts {
  readonly config: Config;
  readonly eventStoreUrl: string;
  readonly databaseUrl: string;
}

/** One node: the HTTP API over a log and a database that are there already. */
export async function startServer({
  config,
  eventStoreUrl,
  databaseUrl,
}: ServerParts): Promise<RunningServer> {
  const logger = pino({ level: config.logLevel, base: null });
  const core = await startCore({ config, eventStoreUrl, databaseUrl, logger });
  try {
    const auth = authOptions(config.auth);
    const adapter = createHttpAdapter({ mode: auth.mode, allowedOrigins: new Set(config.allowedOrigins) });
    const app = await NestFactory.create<NestFastifyApplication>(AppModule.of(core, auth), adapter, {
      logger: ['error', 'warn'],
    });
    await core.health.usableWithin(READY_MS);
    await app.listen(config.port, config.host);
    const { port } = app.getHttpServer().address() as AddressInfo;
    return {
      port,
      close: async () => {
        await app.close();
        await core.close();
      },
    };
  } catch (error) {
    await core.close();
    throw error;
  }
}

function authOptions(auth: AuthMode): AuthOptions {
  return auth.kind === 'none'
    ? { mode: 'none' }
    : {
        mode: 'header',
        header: auth.header.toLowerCase(),
        prefix: '',
        administrators: new Set(auth.administrators),
      };
}
