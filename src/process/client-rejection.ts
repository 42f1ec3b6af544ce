const FRAME_FILE = /\(?((?:file:\/\/)?\/[^()\s]+|[A-Z]:\\[^()]+):\d+:\d+\)?$/;
const CLIENT = /[\\/]node_modules[\\/](@eventstore[\\/]db-client|@grpc[\\/]grpc-js|google-protobuf)[\\/]/;

/**
 * Whether a rejection that nobody handled was made inside the event store client. The client appends inside an async
 * promise executor, so a connection lost under a full queue rejects promises that no caller can reach, although every
 * promise that it returned is handled. Those are survived; a rejection of our own is a fault.
 */
export function comesFromEventStoreClient(reason: unknown): boolean {
  if (!(reason instanceof Error) || reason.stack === undefined) return false;
  for (const line of reason.stack.split('\n')) {
    if (!line.startsWith('    at ') || line.includes('node:')) continue;
    const file = FRAME_FILE.exec(line)?.[1];
    if (file !== undefined) return CLIENT.test(file);
  }
  return false;
}
