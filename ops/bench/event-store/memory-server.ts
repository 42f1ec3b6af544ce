import { readFileSync } from 'node:fs';
import type { ServerHttp2Stream } from 'node:http2';
import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';

/**
 * The least that an HTTP/2 server can do: `/echo` sends back what it gets; any other path answers the bytes of
 * the file given as argument, which are gRPC frames, and status OK.
 */
const recorded = process.argv[2] ? readFileSync(process.argv[2]) : Buffer.alloc(0);
const WRITE_BYTES = 128 * 1024;

function echo(stream: ServerHttp2Stream): void {
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' });
  stream.pipe(stream);
}

function replay(stream: ServerHttp2Stream): void {
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
  let at = 0;
  const more = (): void => {
    while (at < recorded.length) {
      const piece = recorded.subarray(at, at + WRITE_BYTES);
      at += piece.length;
      if (!stream.write(piece)) {
        stream.once('drain', more);
        return;
      }
    }
    stream.end();
  };
  more();
}

const server = createServer({ settings: { initialWindowSize: 1024 * 1024 } });
server.on('connection', (socket: { setNoDelay(on: boolean): void }) => socket.setNoDelay(true));
server.on('sessionError', () => undefined);
server.on('stream', (stream, headers) => {
  stream.on('error', () => undefined);
  if (headers[':path'] === '/echo') echo(stream);
  else replay(stream);
});
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.once('SIGTERM', () => process.exit(0));
