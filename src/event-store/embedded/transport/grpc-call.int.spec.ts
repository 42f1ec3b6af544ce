import { expect, it } from '@jest/globals';
import { connect, type IncomingHttpHeaders } from 'node:http2';
import { GrpcError, Status } from '../protocol/grpc-error.js';
import { frame } from './frame-decoder.js';
import type { GrpcCall } from './grpc-call.js';
import { GrpcServer } from './grpc-server.js';

const PATH = '/test.Service/Method';
/** Above the mark at which a write has to wait for `drain`. */
const LARGE = Buffer.alloc(64 * 1024);

/** The trailers that a client gets which has sent its message, but not the end of its request. */
async function trailersOf(handler: (call: GrpcCall) => Promise<void>): Promise<IncomingHttpHeaders> {
  const unknownMethod = (path: string): GrpcError => new GrpcError(Status.UNIMPLEMENTED, path);
  const server = new GrpcServer({
    routes: new Map([[PATH, handler]]),
    unknownMethod,
    onFault: () => undefined,
  });
  const port = await server.listen(0);
  const session = connect(`http://127.0.0.1:${port}`);
  try {
    const stream = session.request({ ':method': 'POST', ':path': PATH, 'content-type': 'application/grpc' });
    stream.write(frame(Buffer.from('request')));
    return await new Promise((resolve, reject) => {
      stream.on('trailers', resolve);
      stream.on('close', () => reject(new Error('the call ended without trailers')));
      stream.on('error', reject);
      stream.resume();
    });
  } finally {
    session.destroy();
    await server.close();
  }
}

it('a large answer ends with its status although the end of the request is still to come', async () => {
  const trailers = await trailersOf(async (call) => {
    await call.receiveOne();
    await call.write(frame(LARGE));
    call.end();
  });
  expect(trailers['grpc-status']).toBe('0');
});

it('a failure after a large part of the answer arrives as such', async () => {
  const trailers = await trailersOf(async (call) => {
    await call.receiveOne();
    await call.write(frame(LARGE));
    throw new GrpcError(Status.DATA_LOSS, 'gone');
  });
  expect(trailers['grpc-status']).toBe(String(Status.DATA_LOSS));
});

it('a request that does not end after its answer is reset', async () => {
  const server = new GrpcServer({
    routes: new Map([[PATH, async (call: GrpcCall) => call.end(await call.receiveOne())]]),
    unknownMethod: (path) => new GrpcError(Status.UNIMPLEMENTED, path),
    onFault: () => undefined,
  });
  const session = connect(`http://127.0.0.1:${await server.listen(0)}`);
  try {
    const stream = session.request({ ':method': 'POST', ':path': PATH, 'content-type': 'application/grpc' });
    stream.write(frame(Buffer.from('request')));
    stream.resume();
    await new Promise((resolve) => stream.once('close', resolve));
    expect(stream.rstCode).toBe(0);
  } finally {
    session.destroy();
    await server.close();
  }
});
