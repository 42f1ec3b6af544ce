import { describe, expect, it } from '@jest/globals';
import { parseOptions } from './options.js';

describe('the options of the demo', () => {
  it('have defaults', () => {
    expect(parseOptions([])).toEqual({
      url: 'http://127.0.0.1:6767',
      speed: Infinity,
      log: null,
      user: null,
      help: false,
    });
  });

  it('are read', () => {
    const args = [
      '--url',
      'https://rollcall.example/base/',
      '--speed',
      '2.5',
      '--log=x.ndjson',
      '--user',
      'a@b.c',
    ];
    expect(parseOptions(args)).toEqual({
      url: 'https://rollcall.example/base',
      speed: 2.5,
      log: 'x.ndjson',
      user: 'a@b.c',
      help: false,
    });
  });

  it.each([
    [['--url', 'nowhere'], '--url nowhere is not an address such as http://127.0.0.1:6767'],
    [['--url', 'ftp://x'], '--url ftp://x is not an address such as http://127.0.0.1:6767'],
    [['--speed', '0'], '--speed 0 is not a number above 0, such as 1 or 10'],
    [['--speed', 'fast'], '--speed fast is not a number above 0, such as 1 or 10'],
    [['--bogus'], "Unknown option '--bogus'; see npm run demo -- --help"],
  ])('%j is refused in one line', (args, message) => {
    expect(() => parseOptions(args)).toThrow(expect.objectContaining({ message, exitCode: 2 }));
  });
});
