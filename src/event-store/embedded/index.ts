import { randomBytes } from 'node:crypto';
import { forgetDamage, noteDamage, notedDamage } from './damage-note.js';
import { openLog } from './data-file.js';
import { productionNotice } from './production-guard.js';
import { eventStoreRoutes, unimplemented } from './service/routes.js';
import { errorCode } from './storage/database.js';
import { EventLog } from './storage/event-log.js';
import { LogScrub } from './storage/log-scrub.js';
import { GrpcServer } from './transport/grpc-server.js';

/** Where the log lives: in a directory, made if missing, or in memory until the node is closed. */
export type EmbeddedEventStoreOptions =
  | {
      readonly dir: string;
      readonly port?: number;
      /** Told again and again what a start is at that has much to check. */
      readonly onStarting?: (doing: string) => void;
    }
  | { readonly memory: true; readonly port?: number };

/**
 * A node that speaks the EventStoreDB gRPC protocol on 127.0.0.1, for a laptop and for tests.
 * It is no EventStoreDB: one node, no TLS, no users, no persistent subscriptions, no projections.
 */
export class EmbeddedEventStore {
  private closing: Promise<void> | undefined;

  private constructor(
    private readonly log: EventLog,
    private readonly scrub: LogScrub,
    private readonly server: GrpcServer,
    readonly port: number,
    /** Whoever knows it may ask the running node for a backup. */
    readonly token: string,
  ) {}

  /**
   * Ready when it resolves. Port 0 or none: the system picks a free one. Rejects when the port is taken, the
   * directory's file is open in another process, or the file is damaged; the message says which.
   */
  static async start(options: EmbeddedEventStoreOptions): Promise<EmbeddedEventStore> {
    const notice = productionNotice(process.env);
    if (notice !== undefined) process.emitWarning(`event store: ${notice}`);
    const onFault = (error: unknown): void =>
      process.emitWarning(error instanceof Error ? error : String(error));
    const log =
      'dir' in options
        ? openLog(options.dir, { ...options, onFault })
        : EventLog.open(':memory:', Date.now, onFault);
    const token = randomBytes(16).toString('hex');
    let port = 0;
    const server = new GrpcServer({
      routes: eventStoreRoutes(log, { port: () => port, token }),
      unknownMethod: unimplemented,
      onFault,
    });
    try {
      const scrub = new LogScrub(log);
      await checkBeforeServing(scrub, options);
      port = await server.listen(options.port ?? 0);
      scrub.continueInBackground();
      if ('dir' in options) void scrub.damaged.then((error) => noteDamage(options.dir, error));
      return new EmbeddedEventStore(log, scrub, server, port, token);
    } catch (error) {
      if (errorCode(error) !== 'EADDRINUSE') {
        log.abandon();
        throw error;
      }
      log.close();
      throw new Error(`port ${options.port} is in use`, { cause: error });
    }
  }

  get connectionString(): string {
    return `esdb://127.0.0.1:${this.port}?tls=false`;
  }

  /** Resolves with the error when the check that goes on in the background finds damage; else never. */
  get damaged(): Promise<Error> {
    return this.scrub.damaged;
  }

  /** Ends every stream with UNAVAILABLE, then closes the file. */
  close(): Promise<void> {
    this.closing ??= this.shutDown();
    return this.closing;
  }

  private async shutDown(): Promise<void> {
    this.scrub.stop();
    await this.server.close();
    this.log.close();
  }
}

/** A start spends little on checking, unless the log was found damaged before: then all of it is checked. */
async function checkBeforeServing(scrub: LogScrub, options: EmbeddedEventStoreOptions): Promise<void> {
  if (!('dir' in options) || notedDamage(options.dir) === undefined) return scrub.checkNewest();
  await scrub.checkEverything((part) =>
    options.onStarting?.(`checking the log after damage was found, ${Math.floor(part * 100)} %`),
  );
  forgetDamage(options.dir);
}
