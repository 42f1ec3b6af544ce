import { randomUUID } from 'node:crypto';
import type { GrpcCall } from '../transport/grpc-call.js';
import { encodeUuid } from '../wire/uuid-message.js';
import { WireWriter } from '../wire/wire-writer.js';

const LEADER = 8;
const TICKS_PER_MILLISECOND = 10_000;
const INSTANCE_ID = randomUUID();

/** `Gossip/Read`: a cluster of one, which leads. Serves `esdb+discover://`. */
export async function gossip(call: GrpcCall, port: number, now: number): Promise<void> {
  await call.receiveOne();
  const answer = new WireWriter().message(1, (member) =>
    member
      .bytes(1, encodeUuid(INSTANCE_ID))
      .varint(2, BigInt(now) * BigInt(TICKS_PER_MILLISECOND))
      .varint(3, LEADER)
      .bool(4, true)
      .message(5, (endpoint) => endpoint.string(1, '127.0.0.1').varint(2, port)),
  );
  call.end(answer.finish());
}
