import { isUtf8 } from 'node:buffer';
import type { AuthOptions } from './auth-options.js';
import { ANONYMOUS, userPrincipal } from './principal.js';
import type { Principal } from './principal.js';

/** The part of an incoming message that names its sender; a WebSocket handshake has it too. */
export interface Credentials {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Name, value, name, value: the only place where a repeated header still shows. */
  readonly rawHeaders: readonly string[];
}

/** Who sent this, or null when the mode asks for a user and none is named, or not one that could be. */
export function authenticate(options: AuthOptions, credentials: Credentials): Principal | null {
  switch (options.mode) {
    case 'none':
      return ANONYMOUS;
    case 'header': {
      const value = credentials.headers[options.header];
      if (typeof value !== 'string' || isRepeated(credentials.rawHeaders, options.header)) return null;
      const name = decode(value);
      return name === null ? null : userPrincipal(withoutPrefix(name, options.prefix));
    }
  }
}

function withoutPrefix(name: string, prefix: string): string {
  return name.startsWith(prefix) ? name.slice(prefix.length) : name;
}

/** Two values mean that something between the proxy and us was spoofed: nobody is authenticated. */
function isRepeated(rawHeaders: readonly string[], header: string): boolean {
  let seen = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i]?.toLowerCase() === header) seen += 1;
  }
  return seen > 1;
}

/** Node reads header bytes as Latin-1; a name outside ASCII is UTF-8, and anything else is refused. */
function decode(value: string): string | null {
  const bytes = Buffer.from(value, 'latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : null;
}
