import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Config } from './config/config.js';

export interface RunningServer {
  readonly port: number;
  close(): Promise<void>;
}

export interface ServerParts {
  readonly config: Config;
  readonly eventStoreUrl: string;
  readonly databaseUrl: string;
}

export async function startServer({ config }: ServerParts): Promise<RunningServer> {
  const server = createServer((request, response) => {
    response.writeHead(request.url === '/health' ? 200 : 404).end();
  });
  server.listen(config.port, config.host);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
