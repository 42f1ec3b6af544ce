import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';

const RESULTS = 'ops/bench/results';

export interface Limit {
  readonly what: string;
  readonly value: number;
}

/** What a row must keep to, of its ratio if it has a limit, else of its value. */
export type Target = { readonly atLeast: number } | { readonly atMost: number };

/** One line of the result. `ratio` is value / limit, both measured in this run. */
export interface Row {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  readonly limit?: Limit;
  readonly ratio?: number;
  readonly target?: Target;
  readonly met?: boolean;
}

export function row(what: string, value: number, unit: string, limit?: Limit, target?: Target): Row {
  const judged = limit === undefined ? value : value / limit.value;
  return {
    what,
    value: round(value),
    unit,
    ...(limit && { limit: { what: limit.what, value: round(limit.value) }, ratio: round(judged) }),
    ...(target && { target, met: 'atLeast' in target ? judged >= target.atLeast : judged <= target.atMost }),
  };
}

/** At once: a long run that is stopped has said what it knows. */
export function print(rows: readonly Row[]): readonly Row[] {
  for (const line of rows) process.stdout.write(`${describe(line)}\n`);
  return rows;
}

/** Keeps the rows as JSON. A target that was missed makes the run fail, unless it was a smoke run. */
export function save(name: string, rows: readonly Row[], quick: boolean): void {
  const machine = {
    cpu: cpus()[0]?.model ?? 'unknown',
    cpus: cpus().length,
    node: process.version,
    at: new Date().toISOString(),
    quick,
  };
  const file = join(RESULTS, `${name}.json`);
  mkdirSync(RESULTS, { recursive: true });
  writeFileSync(file, `${JSON.stringify({ machine, rows }, undefined, 2)}\n`);
  const missed = rows.filter(({ met }) => met === false).length;
  process.stdout.write(
    `${missed} targets missed${quick ? ', of which a smoke run says little' : ''}; written to ${file}\n`,
  );
  if (missed > 0 && !quick) process.exitCode = 1;
}

function describe({ what, value, unit, limit, ratio, target, met }: Row): string {
  const beside = limit === undefined ? '' : `  ${ratio} of ${limit.value} (${limit.what})`;
  const verdict = target === undefined ? '' : `  ${met ? 'ok' : 'MISSED'}: ${wanted(target)}`;
  return `${what.padEnd(52)} ${String(value).padStart(9)} ${unit.padEnd(8)}${beside}${verdict}`;
}

function wanted(target: Target): string {
  return 'atLeast' in target ? `at least ${target.atLeast}` : `at most ${target.atMost}`;
}

function round(value: number): number {
  const scale = 10 ** Math.max(0, 3 - Math.ceil(Math.log10(Math.abs(value) || 1)));
  return Math.round(value * scale) / scale;
}
