import type { GrpcCall } from '../transport/grpc-call.js';
import { WireWriter } from '../wire/wire-writer.js';

/** The server line whose protocol this node speaks, marked so that nobody takes it for the real one. */
const SERVER_VERSION = '24.10.0-rollcall-embedded';

interface SupportedMethod {
  readonly service: string;
  readonly method: string;
  readonly features: readonly string[];
}

/** Only what exists here: a client takes from this list which calls it may make. */
const SUPPORTED: readonly SupportedMethod[] = [
  { service: 'event_store.client.streams.streams', method: 'append', features: [] },
  { service: 'event_store.client.streams.streams', method: 'batchappend', features: ['deadline_duration'] },
  { service: 'event_store.client.streams.streams', method: 'read', features: [] },
  { service: 'event_store.client.streams.streams', method: 'delete', features: [] },
  { service: 'event_store.client.streams.streams', method: 'tombstone', features: [] },
  { service: 'event_store.client.gossip.gossip', method: 'read', features: [] },
  {
    service: 'event_store.client.server_features.serverfeatures',
    method: 'getsupportedmethods',
    features: [],
  },
];

/** `ServerFeatures/GetSupportedMethods`. */
export async function serverFeatures(call: GrpcCall): Promise<void> {
  await call.receiveOne();
  const answer = new WireWriter(512);
  for (const { service, method, features } of SUPPORTED) {
    answer.message(1, (entry) => {
      entry.string(1, method).string(2, service);
      for (const feature of features) entry.string(3, feature);
    });
  }
  call.end(answer.string(2, SERVER_VERSION).finish());
}
