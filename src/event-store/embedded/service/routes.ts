import { GrpcError, Status } from '../protocol/grpc-error.js';
import type { EventLog } from '../storage/event-log.js';
import type { CallHandler, Routes } from '../transport/grpc-server.js';
import { append } from './append-service.js';
import { BatchAppendCall } from './batch-append-service.js';
import { deleteStream } from './delete-service.js';
import { gossip } from './gossip.js';
import { Intake } from './intake.js';
import { BACKUP_PATH, backup } from './maintenance.js';
import { read } from './read-service.js';
import { serverFeatures } from './server-features.js';

export interface NodeIdentity {
  /** Asked for at each call: it is not known before the server listens. */
  readonly port: () => number;
  readonly token: string;
}

export function eventStoreRoutes(log: EventLog, node: NodeIdentity): Routes {
  const intake = new Intake();
  return new Map<string, CallHandler>([
    ['/event_store.client.streams.Streams/Append', (call) => append(log, call, intake)],
    [
      '/event_store.client.streams.Streams/BatchAppend',
      (call) => new BatchAppendCall(log, call, intake).run(),
    ],
    ['/event_store.client.streams.Streams/Read', (call) => read(log, call)],
    ['/event_store.client.streams.Streams/Delete', (call) => deleteStream(log, call, 'delete')],
    ['/event_store.client.streams.Streams/Tombstone', (call) => deleteStream(log, call, 'tombstone')],
    [
      '/event_store.client.server_features.ServerFeatures/GetSupportedMethods',
      (call) => serverFeatures(call),
    ],
    ['/event_store.client.gossip.Gossip/Read', (call) => gossip(call, node.port(), log.now())],
    [BACKUP_PATH, (call) => backup(log, call, node.token)],
  ]);
}

const ABSENT_SERVICES: readonly (readonly [prefix: string, name: string])[] = [
  ['/event_store.client.persistent_subscriptions.', 'Persistent subscriptions'],
  ['/event_store.client.projections.', 'Projections'],
  ['/event_store.client.users.', 'Users'],
  ['/event_store.client.operations.', 'Operations'],
  ['/event_store.client.monitoring.', 'Monitoring'],
];

export function unimplemented(path: string): GrpcError {
  const absent = ABSENT_SERVICES.find(([prefix]) => path.startsWith(prefix));
  return new GrpcError(
    Status.UNIMPLEMENTED,
    absent === undefined
      ? `The embedded event store node has no method ${path}.`
      : `${absent[1]} are not part of the embedded event store node: use a real EventStoreDB for them.`,
  );
}
