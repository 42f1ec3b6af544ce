import type { ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';

/** What a call gets: messages, and then a status; without one it stays open. */
export interface ScriptedAnswer {
  readonly messages?: readonly Buffer[];
  readonly status?: number;
}

export interface ScriptedServer {
  readonly url: string;
  /** The methods that were called, in order. */
  readonly calls: readonly string[];
  /** Ends the calls that are still open, with this status. */
  endOpenCalls(status: number): void;
  stop(): Promise<void>;
}

/** A gRPC server that says what no event store can be made to say; `answer` is asked as the first bytes come. */
export async function scriptedServer(
  answer: (method: string, times: number) => ScriptedAnswer,
): Promise<ScriptedServer> {
  const calls: string[] = [];
  const sessions = new Set<ServerHttp2Session>();
  const open = new Set<ServerHttp2Stream>();
  const server = createServer();
  server.on('session', (session) => {
    sessions.add(session);
    session.on('error', () => undefined).once('close', () => sessions.delete(session));
  });
  server.on('stream', (stream, headers) => {
    const method = (headers[':path'] ?? '').replace(/^.*\//, '');
    calls.push(method);
    const { messages = [], status } = answer(method, calls.filter((call) => call === method).length);
    stream.on('error', () => undefined).once('close', () => open.delete(stream));
    stream.once('data', () => {
      stream.resume();
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
      for (const message of messages) stream.write(message);
      if (status === undefined) open.add(stream);
      else end(stream, status);
    });
  });
  await new Promise<void>((settle) => server.listen(0, '127.0.0.1', settle));
  const { port } = server.address() as AddressInfo;
  return {
    url: `esdb://127.0.0.1:${port}?tls=false`,
    calls,
    endOpenCalls: (status) => open.forEach((stream) => end(stream, status)),
    stop: () => {
      for (const session of sessions) session.destroy();
      return new Promise((settle) => server.close(() => settle()));
    },
  };
}

function end(stream: ServerHttp2Stream, status: number): void {
  stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': String(status) }));
  stream.end();
}
