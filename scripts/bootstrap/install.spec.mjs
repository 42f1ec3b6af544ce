import { expect, it } from '@jest/globals';
import { holds } from './install.mjs';

const locked = {
  '': { name: 'rollcall' },
  'node_modules/a': { version: '1.0.0' },
  'node_modules/b-linux': { version: '2.0.0', optional: true },
};

it.each([
  [
    'everything',
    { 'node_modules/a': { version: '1.0.0' }, 'node_modules/b-linux': { version: '2.0.0' } },
    true,
  ],
  [
    'everything but an optional package of another platform',
    { 'node_modules/a': { version: '1.0.0' } },
    true,
  ],
  ['nothing', {}, false],
  ['another version', { 'node_modules/a': { version: '1.0.1' } }, false],
  [
    'another version of an optional package',
    { 'node_modules/a': { version: '1.0.0' }, 'node_modules/b-linux': { version: '1.0.0' } },
    false,
  ],
])('with %s installed, the lock holds: %#', (_case, installed, expected) => {
  expect(holds(installed, locked)).toBe(expected);
});
