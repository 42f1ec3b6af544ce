import { LRUCache } from 'lru-cache';
import { compileDotNetPattern } from './dotnet-pattern.js';

/** What a real node looks at in one search when the client does not say. */
const DEFAULT_WINDOW = 32;
const REMEMBERED_VERDICTS = 20_000;

/** What a client asks for. */
export interface FilterOptions {
  readonly on: 'stream-name' | 'event-type';
  readonly regex: string | undefined;
  readonly prefixes: readonly string[];
  /** How many events a real node looks at in one search; undefined: its default. */
  readonly window: number | undefined;
  readonly checkpointIntervalMultiplier: number;
}

/** A filter that cannot be; the message is for the client. */
export class UnusableFilter extends Error {}

/** Says of many names at once which of them match, in their order. */
export type NameFilter = (names: readonly string[]) => readonly boolean[];

/** Throws `UnusableFilter`. A pattern may backtrack for ever, so how to search by one is for the caller to say. */
export function compileFilter(
  options: FilterOptions,
  search: (pattern: RegExp, names: readonly string[]) => readonly boolean[],
): NameFilter {
  if (options.regex !== undefined) {
    const pattern = compileDotNetPattern(options.regex);
    if (pattern === undefined) {
      throw new UnusableFilter(
        `The filter's regular expression cannot be compiled, or not into what .NET makes of it: ${options.regex}`,
      );
    }
    return (names) => search(pattern, names);
  }
  if (options.prefixes.length === 0) throw new UnusableFilter('The filter has neither a regex nor a prefix.');
  return (names) => names.map((name) => options.prefixes.some((prefix) => name.startsWith(prefix)));
}

/** Considered events between two checkpoints. */
export function checkpointInterval(options: FilterOptions): number {
  if (options.checkpointIntervalMultiplier < 1) {
    throw new UnusableFilter('The checkpoint interval multiplier must be at least 1.');
  }
  if (options.window === 0) throw new UnusableFilter('The search window must be at least 1.');
  return options.checkpointIntervalMultiplier * (options.window ?? DEFAULT_WINDOW);
}

/** Decides by number instead of name, so that each name is looked up and matched once. */
export class NumberedFilter {
  private readonly verdicts = new LRUCache<bigint, boolean>({ max: REMEMBERED_VERDICTS });

  constructor(
    private readonly matches: NameFilter,
    private readonly nameOf: (id: bigint) => Buffer,
  ) {}

  /** One verdict for each number, in their order. At most a page of them: they share one limit of time. */
  accepts(ids: readonly bigint[]): readonly boolean[] {
    const verdicts = new Map<bigint, boolean>();
    const unknown = new Set<bigint>();
    for (const id of ids) {
      const known = this.verdicts.get(id);
      if (known === undefined) unknown.add(id);
      else verdicts.set(id, known);
    }
    if (unknown.size > 0) this.learn([...unknown], verdicts);
    return ids.map((id) => verdicts.get(id) === true);
  }

  private learn(ids: readonly bigint[], verdicts: Map<bigint, boolean>): void {
    const found = this.matches(ids.map((id) => this.nameOf(id).toString('utf8')));
    ids.forEach((id, index) => {
      const verdict = found[index] === true;
      verdicts.set(id, verdict);
      this.verdicts.set(id, verdict);
    });
  }
}
