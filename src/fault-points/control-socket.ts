import { rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { SystemClock } from '../clock/clock.js';
import { FAULT_POINTS, type FaultAction, type FaultPoint, type FaultPoints } from './fault-points.js';

const ACTIONS: readonly FaultAction[] = ['exit', 'throw', 'hang'];

/** Lines of JSON on a unix socket, for tests alone: `{cmd:'fault', point, action, after?}`, `{cmd:'clock', offset_ms}`. */
export class ControlSocket {
  private constructor(
    private readonly server: Server,
    private readonly open: Set<Socket>,
    private readonly path: string,
  ) {}

  static async listen(path: string, faults: FaultPoints, clock: SystemClock): Promise<ControlSocket> {
    rmSync(path, { force: true });
    const open = new Set<Socket>();
    const server = createServer((socket) => {
      open.add(socket);
      socket.on('close', () => open.delete(socket));
      socket.on('error', () => socket.destroy());
      createInterface({ input: socket }).on('line', (line) =>
        socket.write(`${JSON.stringify(obey(line, faults, clock))}\n`),
      );
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(path, resolve);
    });
    return new ControlSocket(server, open, path);
  }

  async close(): Promise<void> {
    for (const socket of this.open) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
    rmSync(this.path, { force: true });
  }
}

function obey(line: string, faults: FaultPoints, clock: SystemClock): { ok: boolean; error?: string } {
  try {
    const command = JSON.parse(line) as Record<string, unknown>;
    if (command['cmd'] === 'clock' && typeof command['offset_ms'] === 'number') {
      clock.moveTo(command['offset_ms']);
      return { ok: true };
    }
    if (command['cmd'] === 'disarm') {
      faults.disarmAll();
      return { ok: true };
    }
    const point = FAULT_POINTS.find((known): known is FaultPoint => known === command['point']);
    const action = ACTIONS.find((known) => known === command['action']);
    if (command['cmd'] !== 'fault' || !point || !action) return { ok: false, error: 'unknown command' };
    faults.arm(point, action, typeof command['after'] === 'number' ? command['after'] : 0);
    return { ok: true };
  } catch (error) {
    return { ok: false, error: String(error) };
  }
}
