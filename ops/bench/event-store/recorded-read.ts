import { connect } from 'node:http2';
import { START } from '@eventstore/db-client';
import { WireWriter } from '../../../src/event-store/embedded/wire/wire-writer.js';
import { FrameDecoder, frame } from '../../../src/event-store/embedded/transport/frame-decoder.js';

export interface RecordedFrame {
  readonly message: Buffer;
  readonly whole: Buffer;
}

const READ = '/event_store.client.streams.Streams/Read';
const FORWARDS_FROM = { [START]: 2 } as const;

/** Every message of a `readAll` from the start, as it came over the wire. */
export function recordReadAll(port: number): Promise<RecordedFrame[]> {
  const request = new WireWriter().message(1, (options) =>
    options
      .message(2, (all) => all.empty(FORWARDS_FROM[START]))
      .varint(5, Number.MAX_SAFE_INTEGER)
      .empty(8)
      .message(9, (uuid) => uuid.empty(2)),
  );
  return new Promise((settle, reject) => {
    const session = connect(`http://127.0.0.1:${port}`);
    session.once('error', reject);
    const stream = session.request({ ':method': 'POST', ':path': READ, 'content-type': 'application/grpc' });
    const frames: RecordedFrame[] = [];
    const decoder = new FrameDecoder();
    stream.on('data', (chunk: Buffer) =>
      decoder.push(chunk, (message) => frames.push({ message: Buffer.from(message), whole: frame(message) })),
    );
    stream.once('error', reject);
    stream.once('end', () => {
      session.close();
      settle(frames);
    });
    stream.end(frame(request.finish()));
  });
}
