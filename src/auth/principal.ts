/** Who asks. Every command and query takes one (contract/sessions.md 1.7). */
export type Principal = { readonly kind: 'anonymous' } | { readonly kind: 'user'; readonly id: string };

export const ANONYMOUS: Principal = { kind: 'anonymous' };

/** Names that no authenticated user may carry (contract/sessions.md 1.7). */
const RESERVED = new Set(['local', '__public__']);

/** An address of 64 + 1 + 255 characters: the longest that mail knows (RFC 5321 4.5.3.1). */
const MAX_CODE_POINTS = 320;

/** Control and format characters, separators, lone surrogates: nothing that could imitate another name. */
const UNSAFE = /[\p{C}\p{Z}]/u;

/** A user principal for a name given by an authenticator; null when the name may not be one. */
export function userPrincipal(name: string): Principal | null {
  const id = name.trim();
  if (id === '' || id.length > 2 * MAX_CODE_POINTS || [...id].length > MAX_CODE_POINTS) return null;
  if (UNSAFE.test(id) || RESERVED.has(id.toLowerCase())) return null;
  return { kind: 'user', id };
}

/** A stable text for scopes of idempotency keys; no user's name collides with the anonymous one. */
export function principalKey(principal: Principal): string {
  switch (principal.kind) {
    case 'anonymous':
      return 'anonymous';
    case 'user':
      return `user:${principal.id}`;
  }
}

/** The `owner` and author as events and rows record it: null without authentication. */
export function ownerOf(principal: Principal): string | null {
  switch (principal.kind) {
    case 'anonymous':
      return null;
    case 'user':
      return principal.id;
  }
}
