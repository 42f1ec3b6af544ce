import { VARIABLES, type VariableName } from './variables.js';

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent';

export type AuthMode =
  | { readonly kind: 'none' }
  | { readonly kind: 'header'; readonly header: string; readonly administrators: readonly string[] };

/** The environment, read and checked once. Everything else takes this object and never looks at process.env. */
export interface Config {
  readonly host: string;
  /** 0 asks the system for any free port. */
  readonly port: number;
  /** Absolute. Holds what the embedded parts store; unused when both are replaced by real servers. */
  readonly dataDir: string;
  /** Where root keeps what the user of the embedded Postgres cannot reach in `dataDir`. Null: the usual places. */
  readonly shelterDir: string | null;
  /** Null: the embedded node. */
  readonly eventStoreUrl: string | null;
  /** Null: the embedded Postgres. */
  readonly databaseUrl: string | null;
  readonly auth: AuthMode;
  readonly streamPrefix: string;
  readonly logLevel: LogLevel;
  /** Path of the unix socket of the tests' controls; always null unless NODE_ENV is `test`. */
  readonly controlSocket: string | null;
  /** Origins that may use unsafe methods and WebSockets (contract/sessions.md 1.6). */
  readonly allowedOrigins: readonly string[];
}

/** One line that names the variable and says what is allowed. Never holds a secret. */
export class ConfigError extends Error {
  constructor(
    readonly variable: VariableName,
    problem: string,
  ) {
    super(`${variable} ${problem}`);
  }
}

type Value<N extends VariableName> = Exclude<ReturnType<(typeof VARIABLES)[N]['parse']>, undefined>;

/** Reads the configuration. An empty or blank value counts as not set. Throws ConfigError at the first bad value. */
export function loadConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const read = <N extends VariableName>(name: N): Value<N> => {
    const variable = VARIABLES[name];
    const given = env[name]?.trim();
    const text = given === undefined || given === '' ? variable.default : given;
    const value = variable.parse(text);
    if (value === undefined) {
      const shown = variable.secret ? '' : `, not ${JSON.stringify(text)}`;
      throw new ConfigError(name, `must be ${variable.allowed}${shown}`);
    }
    return value as Value<N>;
  };

  const host = read('HOST');
  const mode = read('ROLLCALL_AUTH');
  const header = read('ROLLCALL_AUTH_HEADER');
  const administrators = read('ROLLCALL_ADMINS');
  if (mode === 'none' && !isLoopback(host)) {
    throw new ConfigError(
      'HOST',
      `must be a loopback address (such as 127.0.0.1) while ROLLCALL_AUTH is none, not ${JSON.stringify(host)}`,
    );
  }
  read('ROLLCALL_EMBEDDED_FORCE');
  const origins = [...read('ROLLCALL_WS_ALLOWED_ORIGINS'), ...read('OMNIGENT_WS_ALLOWED_ORIGINS')];
  return Object.freeze({
    host,
    port: read('PORT'),
    dataDir: read('ROLLCALL_DATA_DIR'),
    shelterDir: read('ROLLCALL_SHELTER_DIR'),
    eventStoreUrl: read('EVENTSTORE_URL'),
    databaseUrl: read('DATABASE_URL'),
    auth: mode === 'none' ? { kind: mode } : { kind: mode, header, administrators },
    streamPrefix: read('ROLLCALL_STREAM_PREFIX'),
    logLevel: read('LOG_LEVEL'),
    controlSocket: env['NODE_ENV'] === 'test' ? read('ROLLCALL_CONTROL_SOCKET') : null,
    allowedOrigins: Object.freeze([...new Set(origins)]),
  });
}

/** The configuration as it may be printed: passwords in URLs are replaced. */
export function redacted(config: Config): Config {
  return {
    ...config,
    eventStoreUrl: withoutPassword(config.eventStoreUrl),
    databaseUrl: withoutPassword(config.databaseUrl),
  };
}

/** Everything between the scheme and the last @ of the authority can be a secret, and so can parameters. */
function withoutPassword(url: string | null): string | null {
  if (url === null) return null;
  return url
    .replace(
      /^([a-z+]+:\/\/)([^/?#]*)@/i,
      (_all, scheme: string, user: string) => `${scheme}${user.split(':')[0] ?? ''}:***@`,
    )
    .replace(/([?&](?:[^=&]*(?:password|secret|token|key)[^=&]*)=)[^&]*/gi, '$1***');
}

/** 127.0.0.0/8, ::1, localhost. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}
