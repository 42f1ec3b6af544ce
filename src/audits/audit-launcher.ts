import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { within } from '../event-store/time-limit.js';
import type { EngineLog } from '../projection-engine/engine.js';
import type { AuditOrder, AuditRegister } from './audit-register.js';
import type { AuditPlace } from './audit-run.js';

const STOP_WITHIN_MS = 6_000;
/** How long who asks for an audit waits for the process of the one before. */
const ENDING_MS = 4_000;

/** What the process of an audit is told, over its channel: a connection string can hold a password. */
export interface AuditTask {
  readonly order: AuditOrder;
  readonly place: AuditPlace;
}

interface RunningAudit {
  readonly id: string;
  readonly child: ChildProcess;
  readonly over: Promise<void>;
}

/** Runs the audits that this node was asked for, each in a process of its own, so that requests wait for none of it. */
export class AuditLauncher {
  private readonly children = new Set<RunningAudit>();

  constructor(
    private readonly register: AuditRegister,
    private readonly place: AuditPlace,
    private readonly log: EngineLog,
  ) {}

  /** Whether a process lives yet: one that was cancelled takes a while to tidy up. */
  get isBusy(): boolean {
    return this.children.size > 0;
  }

  /** Once no process lives any more, or has been waited for long enough. */
  async idle(): Promise<void> {
    const over = Promise.all([...this.children].map((running) => running.over));
    await within(ENDING_MS, over).catch(() => undefined);
  }

  start(order: AuditOrder): void {
    const task: AuditTask = { order, place: this.place };
    const entry = fileURLToPath(new URL('./audit-process.js', import.meta.url));
    const child = fork(entry, [], {
      execArgv: ['--enable-source-maps'],
      env: { ...process.env, NODE_OPTIONS: '' },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    const running = { id: order.id, child, over: this.watch(order.id, child) };
    this.children.add(running);
    void running.over.then(() => this.children.delete(running));
    // One that ended before it heard is seen by its exit.
    child.send(task, () => undefined);
    this.log.info({ audit: order.id, pid: child.pid }, 'an audit begins');
  }

  /** Ends the process of an audit that the register knows to be cancelled, if it is one of this node. */
  cancel(id: string): void {
    void end([...this.children].filter((running) => running.id === id));
  }

  /** Ends what still runs; the register says that it failed. */
  stop(): Promise<void> {
    return end([...this.children]);
  }

  /** Settles when the process is over and the register knows; never rejects. */
  private async watch(id: string, child: ChildProcess): Promise<void> {
    const how = await new Promise<string>((resolve) => {
      child.once('exit', (code, signal) => resolve(signal ?? `exit ${code}`));
      child.once('error', (error) => resolve(error.message));
    });
    const error = `the process that ran it ended (${how})`;
    // Postgres away: the lease runs out.
    const unexpected = await this.register.end(id, { state: 'failed', error }).catch(() => false);
    if (unexpected) this.log.warn({ audit: id, how }, 'the process of an audit ended');
  }
}

async function end(audits: readonly RunningAudit[]): Promise<void> {
  const late = setTimeout(() => {
    for (const { child } of audits) child.kill('SIGKILL');
  }, STOP_WITHIN_MS);
  for (const { child } of audits) child.kill('SIGTERM');
  await Promise.all(audits.map(({ over }) => over));
  clearTimeout(late);
}
