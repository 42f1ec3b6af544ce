import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { recordPort } from '../run/run-directory.js';

/** Stands in front of a server and can swallow every byte of both directions, while no connection is closed. */
export interface BlackHole {
  /** The server's address, through here. */
  readonly url: string;
  swallow(): void;
  /** What was swallowed is lost; what comes now gets through. */
  letThrough(): void;
  close(): Promise<void>;
}

export async function blackHoleBefore(target: string): Promise<BlackHole> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let swallowing = false;

  const forward = (from: Socket, to: Socket): void => {
    sockets.add(from);
    from.on('data', (chunk) => {
      if (!swallowing) to.write(chunk);
    });
    from.on('error', () => undefined);
    from.on('close', () => {
      sockets.delete(from);
      to.destroy();
    });
  };
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    forward(near, far);
    forward(far, near);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const own = (server.address() as AddressInfo).port;
  recordPort(own);
  const url = new URL(target);
  url.port = String(own);

  return {
    url: url.toString(),
    swallow: () => (swallowing = true),
    letThrough: () => (swallowing = false),
    close: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
