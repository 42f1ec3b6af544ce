import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { ConfigError, isLoopback, loadConfig, redacted } from './config.js';
import { VARIABLES } from './variables.js';

const problem = (env: Record<string, string>): string => {
  try {
    loadConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  return 'accepted';
};

describe('loadConfig', () => {
  it('has a default for everything', () => {
    const config = loadConfig({});
    expect(config).toMatchObject({
      host: '127.0.0.1',
      port: 6767,
      shelterDir: null,
      eventStoreUrl: null,
      databaseUrl: null,
      auth: { kind: 'none' },
      streamPrefix: 'rollcall.',
      logLevel: 'info',
      controlSocket: null,
      allowedOrigins: [],
    });
    expect(isAbsolute(config.dataDir)).toBe(true);
    expect(config.dataDir).toMatch(/\.rollcall$/);
  });

  it('takes an empty or blank value for an absent one', () => {
    const empty = Object.fromEntries(Object.keys(VARIABLES).map((name) => [name, ' ']));
    expect(loadConfig(empty)).toEqual(loadConfig({}));
  });

  it.each([
    ['PORT', 'abc'],
    ['PORT', '65536'],
    ['PORT', '-1'],
    ['PORT', '80.5'],
    ['PORT', '0x50'],
    ['HOST', 'no host'],
    ['HOST', '300.1.2.3'],
    ['HOST', '0.0.0.0'],
    ['EVENTSTORE_URL', 'kurrentdb://localhost:2113'],
    ['EVENTSTORE_URL', 'esdb://'],
    ['DATABASE_URL', 'mysql://localhost/x'],
    ['DATABASE_URL', 'postgres://'],
    ['ROLLCALL_AUTH', 'oidc'],
    ['ROLLCALL_AUTH_HEADER', 'X Forwarded'],
    ['ROLLCALL_ADMINS', 'ada, local'],
    ['ROLLCALL_ADMINS', 'ada bob'],
    ['ROLLCALL_STREAM_PREFIX', 'Rollcall.'],
    ['ROLLCALL_STREAM_PREFIX', 'rollcall'],
    ['ROLLCALL_STREAM_PREFIX', '$x.'],
    ['LOG_LEVEL', 'loud'],
    ['ROLLCALL_EMBEDDED_FORCE', 'yes'],
    ['ROLLCALL_WS_ALLOWED_ORIGINS', 'example.org'],
    ['OMNIGENT_WS_ALLOWED_ORIGINS', 'https://a.example/path'],
  ])('refuses %s=%s in one line that names the variable', (name, value) => {
    const message = problem({ [name]: value });
    expect(message).toMatch(new RegExp(`^${name} must be `));
    expect(message).not.toContain('\n');
  });

  it('refuses a control socket whose path is too long, under test only', () => {
    const long = { ROLLCALL_CONTROL_SOCKET: `/tmp/${'x'.repeat(120)}` };
    expect(problem({ ...long, NODE_ENV: 'test' })).toMatch(/^ROLLCALL_CONTROL_SOCKET must be /);
    expect(problem(long)).toBe('accepted');
  });

  it('lets another host than loopback in only when a header names the user', () => {
    expect(problem({ HOST: '0.0.0.0' })).toContain('ROLLCALL_AUTH is none');
    expect(loadConfig({ HOST: '0.0.0.0', ROLLCALL_AUTH: 'header' }).auth).toEqual({
      kind: 'header',
      header: 'X-Forwarded-Email',
      administrators: [],
    });
  });

  it('reads administrators as the header names users', () => {
    const env = { ROLLCALL_AUTH: 'header', ROLLCALL_ADMINS: ' ada@example.org, bob ,' };
    expect(loadConfig(env).auth).toMatchObject({ administrators: ['ada@example.org', 'bob'] });
  });

  it('honours the control socket under NODE_ENV=test only', () => {
    const env = { ROLLCALL_CONTROL_SOCKET: '/tmp/c.sock' };
    expect(loadConfig({ ...env, NODE_ENV: 'production' }).controlSocket).toBeNull();
    expect(loadConfig({ ...env, NODE_ENV: 'test' }).controlSocket).toBe('/tmp/c.sock');
  });

  it('joins both names of the list of origins', () => {
    const config = loadConfig({
      ROLLCALL_WS_ALLOWED_ORIGINS: 'https://a.example, http://localhost:3000',
      OMNIGENT_WS_ALLOWED_ORIGINS: 'https://a.example,omnigent://internal',
    });
    expect(config.allowedOrigins).toEqual([
      'https://a.example',
      'http://localhost:3000',
      'omnigent://internal',
    ]);
  });

  it('never shows a secret, neither in a refusal nor in print', () => {
    const url = 'postgres://rollcall:s3cr@et@db.example:5432/rollcall?sslpassword=s3cret';
    expect(problem({ DATABASE_URL: `my${url}` })).not.toContain('s3cr');
    const printed = redacted(
      loadConfig({ DATABASE_URL: url, EVENTSTORE_URL: 'esdb+discover://admin:changeit@es:2113' }),
    );
    expect(printed.databaseUrl).toBe('postgres://rollcall:***@db.example:5432/rollcall?sslpassword=***');
    expect(printed.eventStoreUrl).toBe('esdb+discover://admin:***@es:2113');
  });
});

it('.env.example lists every variable, and no other', () => {
  const listed = [...readFileSync('.env.example', 'utf8').matchAll(/^#? ?([A-Z][A-Z_]+)=/gm)].map(
    (match) => match[1],
  );
  expect(listed.sort()).toEqual(Object.keys(VARIABLES).sort());
});

it.each([
  ['127.0.0.1', true],
  ['127.8.9.1', true],
  ['::1', true],
  ['localhost', true],
  ['0.0.0.0', false],
  ['::', false],
  ['127.0.0.1.example.org', false],
])('%s is a loopback address: %s', (host, expected) => {
  expect(isLoopback(host)).toBe(expected);
});
