import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const NODE = fileURLToPath(new URL('../../../src/event-store/embedded/process.js', import.meta.url));
const MEMORY_SERVER = fileURLToPath(new URL('./memory-server.js', import.meta.url));

/** A server in a process of its own, so that client and server have a core each. */
export class ServerProcess {
  private constructor(
    private readonly child: ChildProcess,
    readonly port: number,
    /** From spawn to ready, in milliseconds. */
    readonly startMilliseconds: number,
  ) {}

  static startNode(dir: string): Promise<ServerProcess> {
    return ServerProcess.start(NODE, ['--dir', dir]);
  }

  /** The bare HTTP/2 server that the limits are measured against. */
  static startMemoryServer(file = ''): Promise<ServerProcess> {
    return ServerProcess.start(MEMORY_SERVER, [file]);
  }

  private static async start(entry: string, args: string[]): Promise<ServerProcess> {
    const begin = performance.now();
    const child = fork(entry, args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    const port = await new Promise<number>((settle, reject) => {
      child.once('message', (message) => settle((message as { port: number }).port));
      child.once('exit', () => reject(new Error(`${entry} did not start`)));
    });
    return new ServerProcess(child, port, performance.now() - begin);
  }

  get url(): string {
    return `esdb://127.0.0.1:${this.port}?tls=false`;
  }

  /** Resident memory in MiB; NaN where the system does not say. */
  residentMemory(): number {
    try {
      const match = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${this.child.pid}/status`, 'utf8'));
      return Number(match?.[1]) / 1024;
    } catch {
      return Number.NaN;
    }
  }

  /** Processor time so far, in milliseconds, to a hundredth of a second; NaN where the system does not say. */
  processorTime(): number {
    try {
      const fields = readFileSync(`/proc/${this.child.pid}/stat`, 'utf8')
        .replace(/^.*\) /, '')
        .split(' ');
      return (Number(fields[11]) + Number(fields[12])) * 10;
    } catch {
      return Number.NaN;
    }
  }

  async stop(): Promise<void> {
    const gone = new Promise((settle) => this.child.once('exit', settle));
    this.child.kill('SIGTERM');
    await gone;
  }
}
