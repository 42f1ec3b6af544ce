import { LRUCache } from 'lru-cache';
import { invalidArgument } from '../protocol/grpc-error.js';
import type { FilterOptions } from '../protocol/read-request.js';

/** What a real node looks at in one search when the client does not say. */
const DEFAULT_WINDOW = 32;
const REMEMBERED_VERDICTS = 20_000;
/** .NET inline options at the start of a pattern, which RegExp knows as flags. */
const INLINE_OPTIONS = /^\(\?([ims]+)\)/;

export function compileFilter(options: FilterOptions): (name: string) => boolean {
  if (options.regex !== undefined) {
    const pattern = compilePattern(options.regex);
    return (name) => pattern.test(name);
  }
  if (options.prefixes.length === 0) throw invalidArgument('The filter has neither a regex nor a prefix.');
  return (name) => options.prefixes.some((prefix) => name.startsWith(prefix));
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
    private readonly matches: (name: string) => boolean,
    private readonly nameOf: (id: bigint) => Buffer,
  ) {}

  accepts(id: bigint): boolean {
    const known = this.verdicts.get(id);
    if (known !== undefined) return known;
    const verdict = this.matches(this.nameOf(id).toString('utf8'));
    this.verdicts.set(id, verdict);
    return verdict;
  }
}

/** A real node uses .NET patterns; what differs and cannot be told apart from a mistake is refused. */
function compilePattern(regex: string): RegExp {
  const inline = INLINE_OPTIONS.exec(regex);
  const body = (inline === null ? regex : regex.slice(inline[0].length))
    .replace(/^\\A/, '^')
    .replace(/\\[zZ]$/, '$');
  try {
    return new RegExp(body, inline?.[1] ?? '');
  } catch {
    throw invalidArgument(`The filter's regular expression cannot be compiled: ${regex}`);
  }
}
