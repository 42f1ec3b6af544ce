import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { userPrincipal } from '../auth/principal.js';
import type { LogLevel } from './config.js';

/** One environment variable: what is allowed in words, and how its text is read (undefined: not allowed). */
interface Variable<T> {
  readonly default: string;
  readonly allowed: string;
  readonly secret?: boolean;
  readonly parse: (text: string) => T | undefined;
}

const variable = <T>(definition: Variable<T>): Variable<T> => definition;

const LOG_LEVELS: readonly LogLevel[] = ['trace', 'debug', 'info', 'warn', 'error', 'silent'];
const HOST_NAME = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/i;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;
const STREAM_PREFIX = /^[a-z0-9][a-z0-9-]*\.$/;
const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^/\s?#@]+$/i;
/** A unix socket's path is bounded by the kernel (108 bytes with its end on Linux, 104 on macOS). */
const SOCKET_PATH_BYTES = 103;

const optionalUrl = (text: string, schemes: readonly string[]): string | null | undefined => {
  if (text === '') return null;
  const scheme = schemes.find((allowed) => text.startsWith(allowed));
  return scheme !== undefined && /^[^\s/]/.test(text.slice(scheme.length)) ? text : undefined;
};

const listed = (text: string): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

const origins = variable<readonly string[]>({
  default: '',
  allowed: 'a comma-separated list of origins such as https://app.example.org',
  parse: (text) => {
    const list = listed(text);
    return list.every((origin) => ORIGIN.test(origin)) ? list : undefined;
  },
});

/** Every variable that Rollcall reads. `.env.example` lists the same names; a test compares them. */
export const VARIABLES = {
  PORT: variable<number>({
    default: '6767',
    allowed: 'a whole number from 0 to 65535 (0 for any free port)',
    parse: (text) => (/^\d{1,5}$/.test(text) && Number(text) <= 65_535 ? Number(text) : undefined),
  }),
  HOST: variable<string>({
    default: '127.0.0.1',
    allowed: 'an IP address or a host name to listen on',
    parse: (text) =>
      isIP(text) !== 0 || (HOST_NAME.test(text) && !/^[\d.]+$/.test(text)) ? text : undefined,
  }),
  ROLLCALL_DATA_DIR: variable<string>({
    default: './.rollcall',
    allowed: 'the path of a directory',
    parse: (text) => (text.includes('\0') ? undefined : resolve(text)),
  }),
  ROLLCALL_SHELTER_DIR: variable<string | null>({
    default: '',
    allowed: 'the path of a directory that other users may pass through',
    parse: (text) => (text === '' ? null : text.includes('\0') ? undefined : resolve(text)),
  }),
  EVENTSTORE_URL: variable<string | null>({
    default: '',
    allowed: 'an EventStoreDB connection string that begins with esdb:// or esdb+discover://',
    secret: true,
    parse: (text) => optionalUrl(text, ['esdb://', 'esdb+discover://']),
  }),
  DATABASE_URL: variable<string | null>({
    default: '',
    allowed: 'a Postgres connection string that begins with postgres:// or postgresql://',
    secret: true,
    parse: (text) => optionalUrl(text, ['postgres://', 'postgresql://']),
  }),
  ROLLCALL_AUTH: variable<'none' | 'header'>({
    default: 'none',
    allowed: 'none or header',
    parse: (text) => (text === 'none' || text === 'header' ? text : undefined),
  }),
  ROLLCALL_AUTH_HEADER: variable<string>({
    default: 'X-Forwarded-Email',
    allowed: 'the name of an HTTP header',
    parse: (text) => (HEADER_NAME.test(text) ? text : undefined),
  }),
  /** Looked at in `header` mode alone. */
  ROLLCALL_ADMINS: variable<readonly string[]>({
    default: '',
    allowed: 'a comma-separated list of users, as the header names them',
    parse: (text) => {
      const names = listed(text);
      return names.every((name) => userPrincipal(name) !== null) ? names : undefined;
    },
  }),
  ROLLCALL_STREAM_PREFIX: variable<string>({
    default: 'rollcall.',
    allowed: 'lower-case letters, digits and hyphens, then one dot, such as rollcall.',
    parse: (text) => (STREAM_PREFIX.test(text) ? text : undefined),
  }),
  LOG_LEVEL: variable<LogLevel>({
    default: 'info',
    allowed: `one of ${LOG_LEVELS.join(', ')}`,
    parse: (text) => LOG_LEVELS.find((level) => level === text),
  }),
  ROLLCALL_CONTROL_SOCKET: variable<string | null>({
    default: '',
    allowed: `the path of a unix socket, at most ${SOCKET_PATH_BYTES} bytes (read under NODE_ENV=test only)`,
    parse: (text) => (text === '' ? null : Buffer.byteLength(text) <= SOCKET_PATH_BYTES ? text : undefined),
  }),
  /** Read by the embedded node itself, which is a program of its own; checked here with the others. */
  ROLLCALL_EMBEDDED_FORCE: variable<boolean>({
    default: '',
    allowed: '1 (run the embedded event store under NODE_ENV=production all the same) or nothing',
    parse: (text) => (text === '' || text === '1' ? text === '1' : undefined),
  }),
  ROLLCALL_WS_ALLOWED_ORIGINS: origins,
  OMNIGENT_WS_ALLOWED_ORIGINS: origins,
} as const;

export type VariableName = keyof typeof VARIABLES;
