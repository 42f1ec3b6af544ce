import { setPriority } from 'node:os';
import { comesFromEventStoreClient } from '../process/client-rejection.js';
import type { AuditTask } from './audit-launcher.js';
import { AuditStopped, runAudit } from './audit-run.js';

/** Behind the server, which shares the processors with it. */
const NICE = 5;

const stopped = new AbortController();
const stop = (reason: string) => () => stopped.abort(new AuditStopped('failed', reason));
process.on('SIGTERM', stop('the server that ran it was stopped'));
process.on('SIGINT', stop('the server that ran it was stopped'));
process.on('disconnect', stop('the server that ran it is gone'));

process.on('unhandledRejection', (reason) => {
  if (!comesFromEventStoreClient(reason)) throw reason;
});

try {
  setPriority(NICE);
} catch {
  // Where that is not allowed it runs like any other process.
}

process.once('message', ({ order, place }: AuditTask) => {
  runAudit(order, place, { signal: stopped.signal, onProgress: () => undefined }).then(
    () => process.exit(0),
    // How it ended is in the register.
    () => process.exit(1),
  );
});
