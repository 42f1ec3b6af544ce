import { Script, createContext } from 'node:vm';
import { invalidArgument } from '../protocol/grpc-error.js';
import { errorCode } from '../storage/database.js';

/** What one page of names may take. A sound pattern needs about a millisecond for it. */
const SEARCH_WITHIN_MS = 250;

// Only a script of `node:vm` can be stopped inside a RegExp. A run costs some 60 us, hence one for many names.
const searchScope: { pattern: RegExp; names: readonly string[] } = { pattern: /(?:)/, names: [] };
const searchContext = createContext(searchScope);
const search = new Script('names.map((name) => pattern.test(name))');

/** Throws INVALID_ARGUMENT for a pattern that backtracks for too long: it would hold up everybody. */
export function searchInTime(pattern: RegExp, names: readonly string[]): readonly boolean[] {
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
