import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { eventStoreRoutes, unimplemented } from './service/routes.js';
import { EventLog } from './storage/event-log.js';
import { GrpcServer } from './transport/grpc-server.js';

/** Where the log lives: in a directory, made if missing, or in memory until the node is closed. */
export type EmbeddedEventStoreOptions =
  { readonly dir: string; readonly port?: number } | { readonly memory: true; readonly port?: number };

export const DATA_FILE = 'eventstore.db';

/**
 * A node that speaks the EventStoreDB gRPC protocol on 127.0.0.1, for a laptop and for tests.
 * It is no EventStoreDB: one node, no TLS, no users, no persistent subscriptions, no projections.
 */
export class EmbeddedEventStore {
  private constructor(
    private readonly log: EventLog,
    private readonly server: GrpcServer,
    readonly port: number,
  ) {}

  /**
   * Ready when it resolves. Port 0 or none: the system picks a free one. Rejects when the port is taken, the
   * directory's file is open in another process (`SQLITE_BUSY`), or the file is damaged.
   */
  static async start(options: EmbeddedEventStoreOptions): Promise<EmbeddedEventStore> {
    const log = EventLog.open('dir' in options ? dataFile(options.dir) : ':memory:', Date.now);
    let port = 0;
    const server = new GrpcServer({
      routes: eventStoreRoutes(log, () => port),
      unknownMethod: unimplemented,
      onFault: (error) => process.emitWarning(error instanceof Error ? error : String(error)),
    });
    try {
      port = await server.listen(options.port ?? 0);
    } catch (error) {
      log.close();
      throw error;
    }
    return new EmbeddedEventStore(log, server, port);
  }

  get connectionString(): string {
    return `esdb://127.0.0.1:${this.port}?tls=false`;
  }

  /** Ends every stream with UNAVAILABLE, then closes the file. */
  async close(): Promise<void> {
    await this.server.close();
    this.log.close();
  }
}

function dataFile(dir: string): string {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  return join(dir, DATA_FILE);
}
