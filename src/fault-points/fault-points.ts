export type FaultAction = 'exit' | 'throw' | 'hang';

/** Places where a test may stop the process, each between two effects that must not be torn apart. */
export const FAULT_POINTS = [
  'before-append',
  'after-append',
  'before-commit',
  'after-commit',
  'before-retry-commit',
  'after-retry-commit',
  'between-spawn-and-birth',
] as const;
export type FaultPoint = (typeof FAULT_POINTS)[number];

interface ArmedFault {
  action: FaultAction;
  /** Passes left before it strikes. */
  after: number;
}

/** Nothing is ever armed outside tests: only the control socket arms, and it exists under NODE_ENV=test alone. */
export class FaultPoints {
  private readonly armed = new Map<FaultPoint, ArmedFault>();

  arm(point: FaultPoint, action: FaultAction, after: number): void {
    this.armed.set(point, { action, after });
  }

  disarmAll(): void {
    this.armed.clear();
  }

  isArmed(point: FaultPoint): boolean {
    return this.armed.has(point);
  }

  async pass(point: FaultPoint): Promise<void> {
    const fault = this.armed.get(point);
    if (!fault) return;
    if (fault.after > 0) {
      fault.after -= 1;
      return;
    }
    this.armed.delete(point);
    await strike(point, fault.action);
  }
}

function strike(point: FaultPoint, action: FaultAction): Promise<void> {
  switch (action) {
    case 'exit':
      process.kill(process.pid, 'SIGKILL');
      return new Promise(() => undefined);
    case 'throw':
      return Promise.reject(new Error(`fault at ${point}`));
    case 'hang':
      return new Promise(() => undefined);
  }
}
