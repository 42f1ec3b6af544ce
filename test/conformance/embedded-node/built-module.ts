import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

/** A script in a process of its own, with `embedded` bound to a module of the built node. */
export interface ScriptProcess {
  readonly child: ChildProcess;
  /** The next line that the script prints, parsed as JSON; rejects with its stderr when it ends instead. */
  next(): Promise<unknown>;
}

/** Runs the body of an async function against `dist/src/event-store/embedded/<module>.js`. */
export function runScript(
  module: string,
  body: string,
  /** Given: the script can write no file beyond this size, as on a disk that is full. */
  fileLimitKiB?: number,
): ScriptProcess {
  const url = pathToFileURL(resolve(`dist/src/event-store/embedded/${module}.js`)).href;
  const script = `
    const embedded = await import(${JSON.stringify(url)});
    const print = (value) => console.log(JSON.stringify(value));
    try { ${body} } catch (error) { console.error(error.message); process.exit(1); }`;
  const node = [process.execPath, '--input-type=module', '-e', script] as const;
  const limited = ['bash', '-c', `ulimit -f ${fileLimitKiB}; exec "$@"`, '--', ...node] as const;
  const [command, ...args] = fileLimitKiB === undefined ? node : limited;
  const child = spawn(command, args, {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  let complaint = '';
  child.stderr.on('data', (chunk: Buffer) => {
    complaint += chunk.toString();
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const closed = new Promise<void>((settle) => child.once('close', () => settle()));
  const next = async (): Promise<unknown> => {
    const line = await lines.next();
    if (line.done !== true) return JSON.parse(line.value) as unknown;
    await closed;
    throw new Error(complaint.trim());
  };
  return { child, next };
}
