import { expect, it } from '@jest/globals';
import { searchInTime } from './name-search.js';

it('a pattern that backtracks without end is refused when it meets a name it backtracks on', () => {
  const search = (name: string) => searchInTime(/(a+)+$/, [name]);
  expect(search('aaa')).toEqual([true]);
  expect(() => search(`${'a'.repeat(64)}!`)).toThrow('backtracks for too long');
  expect(search('bbb')).toEqual([false]);
});
