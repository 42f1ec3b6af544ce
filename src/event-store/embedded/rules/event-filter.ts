import { Script, createContext } from 'node:vm';
import { LRUCache } from 'lru-cache';
import { invalidArgument } from '../protocol/grpc-error.js';
import type { FilterOptions } from '../protocol/read-request.js';
import { errorCode } from '../storage/database.js';
import { compileDotNetPattern } from './dotnet-pattern.js';

/** What a real node looks at in one search when the client does not say. */
const DEFAULT_WINDOW = 32;
const REMEMBERED_VERDICTS = 20_000;

/** Says of many names at once which of them match, in their order. */
export type NameFilter = (names: readonly string[]) => readonly boolean[];

/** The filter throws INVALID_ARGUMENT for a pattern that backtracks for too long: it would hold up everybody. */
export function compileFilter(options: FilterOptions): NameFilter {
  if (options.regex !== undefined) {
    const pattern = compileDotNetPattern(options.regex);
    if (pattern === undefined) {
      throw invalidArgument(
        `The filter's regular expression cannot be compiled, or not into what .NET makes of it: ${options.regex}`,
      );
    }
    return (names) => searchInTime(pattern, names);
  }
  if (options.prefixes.length === 0) throw invalidArgument('The filter has neither a regex nor a prefix.');
  return (names) => names.map((name) => options.prefixes.some((prefix) => name.startsWith(prefix)));
}

/** Considered events between two checkpoints. */
export function checkpointInterval(options: FilterOptions): number {
  if (options.checkpointIntervalMultiplier < 1) {
    throw invalidArgument('The checkpoint interval multiplier must be at least 1.');
  }
  if (options.window === 0) throw invalidArgument('The search window must be at least 1.');
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

/** What one page of names may take. A sound pattern needs about a millisecond for it. */
const SEARCH_WITHIN_MS = 250;

// Only a script of `node:vm` can be stopped inside a RegExp. A run costs some 60 us, hence one for many names.
const searchScope: { pattern: RegExp; names: readonly string[] } = { pattern: /(?:)/, names: [] };
const searchContext = createContext(searchScope);
const search = new Script('names.map((name) => pattern.test(name))');

function searchInTime(pattern: RegExp, names: readonly string[]): readonly boolean[] {
  searchScope.pattern = pattern;
  searchScope.names = names;
  try {
    return search.runInContext(searchContext, { timeout: SEARCH_WITHIN_MS }) as boolean[];
  } catch (error) {
    if (errorCode(error) !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    throw invalidArgument(`The filter's regular expression backtracks for too long: ${pattern.source}`);
  } finally {
    searchScope.names = [];
  }
}
