import { recordPort } from '../run/run-directory.js';
import { type StartedProcess, startProcess } from './started-process.js';

export interface EventStoreProcess extends StartedProcess<{ readonly url: string; readonly port: number }> {
  readonly url: string;
  readonly port: number;
}

/** Starts an event store node of its own on `directory`: on any free port, or on the one it had before. */
export async function startEventStore(directory: string, port = 0): Promise<EventStoreProcess> {
  const started = await startProcess<{ url: string; port: number }>(
    'test/support/process/event-store-host.js',
    {
      name: 'event-store',
      args: [directory, String(port)],
    },
  );
  recordPort(started.ready.port);
  return { ...started, url: started.ready.url, port: started.ready.port };
}
