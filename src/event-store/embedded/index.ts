import { randomBytes } from 'node:crypto';
import { forgetDamage, notedDamage } from './damage-note.js';
import { openLog } from './data-file.js';
import { FaultReports } from './fault-reports.js';
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
      /** Told the token as soon as the directory belongs to this node, which may be long before it serves. */
      readonly onOwned?: (token: string) => void;
    }
  | { readonly memory: true; readonly port?: number };

interface NodeParts {
  readonly log: EventLog;
  readonly scrub: LogScrub;
  readonly server: GrpcServer;
  readonly faults: FaultReports;
}

/**
 * A node that speaks the EventStoreDB gRPC protocol on 127.0.0.1, for a laptop and for tests.
 * It is no EventStoreDB: one node, no TLS, no users, no persistent subscriptions, no projections.
 */
export class EmbeddedEventStore {
  private closing: Promise<void> | undefined;

  private constructor(
    private readonly parts: NodeParts,
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
    const faults = new FaultReports('dir' in options ? options.dir : undefined);
    const onFault = (error: unknown): void => faults.report(error);
    const log =
      'dir' in options
        ? openLog(options.dir, { ...options, onFault })
        : EventLog.open(':memory:', Date.now, onFault);
    const token = randomBytes(16).toString('hex');
    if ('dir' in options) options.onOwned?.(token);
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
      void scrub.damaged.then(onFault);
      return new EmbeddedEventStore({ log, scrub, server, faults }, port, token);
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

  /** Resolves with the error when a call or the check that goes on in the background meets damage; else never. */
  get damaged(): Promise<Error> {
    return this.parts.faults.damaged;
  }

  /** Ends every stream with UNAVAILABLE, then closes the file. */
  close(): Promise<void> {
    this.closing ??= this.shutDown();
    return this.closing;
  }

  private async shutDown(): Promise<void> {
    const { log, scrub, server } = this.parts;
    scrub.stop();
    await server.close();
    log.close();
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
