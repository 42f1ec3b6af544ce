import { connect } from 'node:net';

export type FaultAction = 'exit' | 'throw' | 'hang';

export type ControlCommand =
  | { readonly cmd: 'fault'; readonly point: string; readonly action: FaultAction; readonly after?: number }
  | { readonly cmd: 'clock'; readonly offset_ms: number }
  | { readonly cmd: 'disarm' };

export interface Control {
  /** Arms a named fault point. `after: n` lets it pass n times first. */
  fault(point: string, action: FaultAction, after?: number): Promise<void>;
  /** Moves the server's clock by this many milliseconds from the true time. */
  clock(offsetMs: number): Promise<void>;
  /** Nothing is armed any more. */
  disarm(): Promise<void>;
}

const ANSWER_WITHIN_MS = 5_000;

/** Client of a server's control socket, which exists only under NODE_ENV=test. One JSON line in, one line back. */
export function control(socketPath: string): Control {
  const send = (command: ControlCommand): Promise<void> =>
    new Promise((resolve, reject) => {
      const socket = connect(socketPath);
      let received = '';
      const settle = (error?: Error): void => {
        socket.destroy();
        if (error === undefined) resolve();
        else reject(error);
      };
      socket.setEncoding('utf8');
      socket.setTimeout(ANSWER_WITHIN_MS, () => settle(new Error(`no answer to ${JSON.stringify(command)}`)));
      socket.once('error', settle);
      socket.once('close', () =>
        settle(new Error(`the control socket closed without an answer to ${JSON.stringify(command)}`)),
      );
      socket.once('connect', () => socket.write(`${JSON.stringify(command)}\n`));
      socket.on('data', (chunk: string) => {
        received += chunk;
        if (!received.includes('\n')) return;
        const reply = JSON.parse(received) as { readonly ok?: boolean };
        settle(
          reply.ok === true
            ? undefined
            : new Error(`the server refused ${JSON.stringify(command)}: ${received.trim()}`),
        );
      });
    });

  return {
    fault: (point, action, after) =>
      send({ cmd: 'fault', point, action, ...(after === undefined ? {} : { after }) }),
    clock: (offsetMs) => send({ cmd: 'clock', offset_ms: offsetMs }),
    disarm: () => send({ cmd: 'disarm' }),
  };
}
