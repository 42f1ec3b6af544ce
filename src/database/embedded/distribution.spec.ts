import { expect, it } from '@jest/globals';
import { EmbeddedPostgresError } from './embedded-log.js';
import { type Host, findDistribution } from './distribution.js';

it('finds the package of this machine', () => {
  const { major, version } = findDistribution();
  expect(major).toBe(18);
  expect(version).toMatch(/^18\./);
});

it.each<[string, Host, RegExp]>([
  [
    'Alpine',
    { platform: 'linux', arch: 'x64', glibc: false },
    /Alpine or other musl systems; set DATABASE_URL/,
  ],
  [
    'a platform without binaries',
    { platform: 'freebsd', arch: 'x64', glibc: false },
    /freebsd on x64; set DATABASE_URL/,
  ],
  [
    'a package that npm left out',
    { platform: 'linux', arch: 'ppc64', glibc: true },
    /linux-ppc64 is not installed .* set DATABASE_URL/,
  ],
])('names the way out on %s', (_case, host, message) => {
  expect(() => findDistribution(host)).toThrow(EmbeddedPostgresError);
  expect(() => findDistribution(host)).toThrow(message);
});
