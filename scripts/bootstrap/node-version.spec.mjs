import { expect, it } from '@jest/globals';
import { checkNodeVersion, isSupported } from './node-version.mjs';

it.each([
  ['18.20.4', false],
  ['20.18.3', false],
  ['20.19.0', true],
  ['20.20.2', true],
  ['21.7.3', false],
  ['22.11.0', false],
  ['22.12.0', true],
  ['23.0.0', true],
  ['24.1.0', true],
])('Node %s is supported: %s', (version, expected) => {
  expect(isSupported(version)).toBe(expected);
});

it('says in one sentence what is needed and what is there', () => {
  expect(() => checkNodeVersion('18.20.4')).toThrow(
    /^Rollcall needs Node 20\.19 or newer .* this is Node 18\.20\.4\.$/,
  );
});
