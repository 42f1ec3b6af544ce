/** A process of the simulation. What is stopped does nothing until it goes on; what is dead never does. */
export interface Machine {
  readonly name: string;
  stopped: boolean;
  dead: boolean;
  /** What is sent to the database, and comes from it, is swallowed without a word. */
  databaseHole: boolean;
  logHole: boolean;
  /** When it last went on after it had been stopped. */
  wokenAt: number;
}

interface Task {
  readonly at: number;
  /** Null: it runs outside every machine, on a server or in the network. */
  readonly machine: Machine | null;
  readonly what: string;
  readonly run: () => void;
}

const TRACE_LINES = 120;
/** What goes on all the time and would hide the rest. */
const ROUTINE = /(renew|acquire|newest event|timer|interval|is back)$/;

/** What a seed found, with the way there. */
export class Violation extends Error {
  override readonly name = 'Violation';
}

/**
 * Owns all concurrency: whatever waits is a task here, due at a virtual time, and the seed says which of those that are
 * due runs next. The same seed gives the same run.
 */
export class Simulator {
  now = 0;
  steps = 0;
  private tasks: Task[] = [];
  private readonly trace: string[] = [];
  private violation: Violation | null = null;
  private state: number;

  constructor(
    readonly seed: number,
    private readonly calmFrom: number,
  ) {
    this.state = seed ^ 0x9e3779b9;
  }

  /** From 0 up to, but without, 1 (mulberry32). */
  random(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** A whole number, both ends included. */
  between(least: number, most: number): number {
    return least + Math.floor(this.random() * (most - least + 1));
  }

  chance(probability: number): boolean {
    return this.random() < probability;
  }

  pick<T>(list: readonly T[]): T | undefined {
    return list[Math.floor(this.random() * list.length)];
  }

  /** Runs `run` after so many virtual milliseconds. Returns what calls it off. */
  after(milliseconds: number, machine: Machine | null, what: string, run: () => void): () => void {
    const task: Task = { at: this.now + Math.round(milliseconds), machine, what, run };
    this.tasks.push(task);
    return () => {
      this.tasks = this.tasks.filter((standing) => standing !== task);
    };
  }

  /** How long something takes on its way: mostly short, at times not, and in bad times as long as a lease and more. */
  latency(): number {
    if (this.now < this.calmFrom && this.chance(0.004)) return this.between(500, 6_000);
    return this.chance(0.95) ? this.between(0, 4) : this.between(5, 120);
  }

  note(what: string): void {
    this.trace.push(`${String(this.now).padStart(6)} ${what}`);
  }

  /** Engines catch what is thrown at them, so what must not be is kept here until the step ends. */
  violated(what: string): void {
    this.note(`VIOLATION ${what}`);
    this.violation ??= new Violation(what);
  }

  tasksOf(machine: Machine): string[] {
    return this.tasks.filter((task) => task.machine === machine).map(({ what }) => what);
  }

  /** The whole run so far, for comparing two of them. */
  get history(): readonly string[] {
    return this.trace;
  }

  /** Runs until `done`, or fails when that takes longer than until this virtual time. */
  async runUntil(what: string, deadline: number, done: () => boolean): Promise<void> {
    while (!done()) {
      if (this.now > deadline) throw this.told(`${what}: not by ${deadline} ms`);
      if (!(await this.step())) throw this.told(`${what}: nothing is left to happen`);
    }
  }

  told(what: string): Error {
    return new Error(
      `seed ${this.seed}: ${what}\n${this.trace
        .filter((line) => !ROUTINE.test(line))
        .slice(-TRACE_LINES)
        .join('\n')}`,
    );
  }

  private async step(): Promise<boolean> {
    const able = this.tasks.filter(({ machine }) => !machine || !(machine.stopped || machine.dead));
    if (able.length === 0) return false;
    this.now = Math.max(this.now, Math.min(...able.map(({ at }) => at)));
    const task = this.pick(able.filter(({ at }) => at <= this.now));
    if (!task) return false;
    this.tasks = this.tasks.filter((standing) => standing !== task && !standing.machine?.dead);
    this.steps += 1;
    this.note(`${task.machine?.name ?? '-'} ${task.what}`);
    task.run();
    // Everything that follows from it without waiting for another task.
    await new Promise((resolve) => setImmediate(resolve));
    if (this.violation) throw this.told(this.violation.message);
    return true;
  }
}
