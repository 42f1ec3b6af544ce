import type { AuthMode } from '../auth/auth-options.js';

/** Which browsers may speak to us (contract/sessions.md 1.6). */
export interface OriginPolicy {
  readonly mode: AuthMode;
  /** Exact origins, `scheme://host[:port]`. */
  readonly allowedOrigins: ReadonlySet<string>;
}

const DESKTOP_APP = 'omnigent://internal';

const OCTET = '(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)';
const LOOPBACK = `(?:localhost|127(?:\\.${OCTET}){3}|\\[::1\\])(?::\\d{1,5})?`;
const LOOPBACK_HOST = new RegExp(`^${LOOPBACK}$`, 'i');
const LOOPBACK_ORIGIN = new RegExp(`^https?://${LOOPBACK}$`, 'i');

/**
 * Without authentication only the loopback names are served, whatever the socket is bound to: a page of another site
 * that points its own name at 127.0.0.1 (DNS rebinding) sends that name in `Host`.
 */
export function isHostAllowed(policy: OriginPolicy, host: string | undefined): boolean {
  switch (policy.mode) {
    case 'none':
      return host !== undefined && LOOPBACK_HOST.test(host);
    case 'header':
      return true;
  }
}

/** For every unsafe method and every WebSocket handshake. Programs send no `Origin` and pass. */
export function isOriginAllowed(policy: OriginPolicy, origin: string | undefined): boolean {
  if (origin === undefined || origin === DESKTOP_APP || policy.allowedOrigins.has(origin)) return true;
  switch (policy.mode) {
    case 'none':
      return LOOPBACK_ORIGIN.test(origin);
    case 'header':
      return policy.allowedOrigins.size === 0;
  }
}

/** Methods that change nothing (RFC 9110 9.2.1); every other one is under the origin rule. */
export function isSafeMethod(method: string): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS';
}
