import type { EventStoreDBClient } from '@eventstore/db-client';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import grpc from '@eventstore/db-client/generated/streams_grpc_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import type { Position } from './position.js';
import { decodeReadFrame } from './read-frames.js';

/** Considered events between two checkpoint frames: rare enough to cost nothing, often enough for a sparse log. */
const CHECKPOINT_WINDOW = 1_000;

/** Parts of the client that subclasses may use: its connection with all that was configured, and its reconnecting. */
interface ClientParts {
  GRPCStreamCreator(
    client: typeof grpc.StreamsClient,
    name: string,
    create: (client: grpc.StreamsClient) => FollowCall,
  ): () => Promise<FollowCall>;
  callArguments(
    base: object,
    options: object,
  ): [metadata: NonNullable<Parameters<grpc.StreamsClient['read']>[1]>, options: object];
}

/** Its data are `ReadFrame`s. */
export type FollowCall = ReturnType<grpc.StreamsClient['read']>;

/** A subscription to `$all` on the client's connection whose messages come in their order, decoded by `decodeReadFrame`. */
export function followCall(
  client: EventStoreDBClient,
  from: Position | null,
  prefixes: readonly string[],
): Promise<FollowCall> {
  const parts = client as unknown as ClientParts;
  const [metadata, options] = parts.callArguments({}, { deadline: Infinity });
  const { path, requestSerialize } = grpc.StreamsService.read;
  return parts.GRPCStreamCreator(grpc.StreamsClient, 'follow', (stub) =>
    stub.makeServerStreamRequest(
      path,
      requestSerialize,
      // The client has no name for what another decoding gives.
      decodeReadFrame as never,
      requestOf(from, prefixes),
      metadata,
      options,
    ),
  )();
}

function requestOf(from: Position | null, prefixes: readonly string[]): streams.ReadReq {
  const { Options } = streams.ReadReq;
  const all = new Options.AllOptions();
  if (from === null) {
    all.setStart(new shared.Empty());
  } else {
    const position = new Options.Position();
    position.setCommitPosition(from.toString());
    position.setPreparePosition(from.toString());
    all.setPosition(position);
  }
  const names = new Options.FilterOptions.Expression();
  names.setPrefixList([...prefixes]);
  const filter = new Options.FilterOptions();
  filter.setStreamIdentifier(names);
  filter.setMax(CHECKPOINT_WINDOW);
  filter.setCheckpointintervalmultiplier(1);
  const ids = new Options.UUIDOption();
  ids.setString(new shared.Empty());
  const options = new Options();
  options.setAll(all);
  options.setResolveLinks(false);
  options.setSubscription(new Options.SubscriptionOptions());
  options.setUuidOption(ids);
  options.setFilter(filter);
  const request = new streams.ReadReq();
  request.setOptions(options);
  return request;
}
