/** What a minted id names; the prefix is part of the canonical form (`conv_` + 32 lowercase hex). */
export const ID_PREFIX = {
  session: 'conv',
  agent: 'ag',
  item: 'item',
  delegation: 'deleg',
  elicitation: 'elicit',
  pending: 'pending',
  audit: 'audit',
} as const;

export type IdKind = keyof typeof ID_PREFIX;

/** Prefixes that clients may put before any id: those of contract/sessions.md 1.1, then our own. */
const KNOWN_PREFIXES =
  'ag|conv|host|pol|file|cmt|msg|fc|fco|err|rs|cmp|nt|rse|sc|tc|rd|agy_conv|item|deleg|elicit|pending|audit';

const PREFIXED_HEX = new RegExp(`^(?:(?:${KNOWN_PREFIXES})_)?([0-9a-fA-F]{32})$`);
const DASHED = /^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$/;

/**
 * The canonical id for what a client wrote: bare hex, a dashed UUID, or hex behind any known prefix.
 * Null for everything else; the edge answers that with 404, never 400 or 422 (contract/sessions.md 1.1).
 */
export function parseId(kind: IdKind, raw: string): string | null {
  const hex = PREFIXED_HEX.exec(raw)?.[1] ?? (DASHED.test(raw) ? raw.replaceAll('-', '') : undefined);
  return hex === undefined ? null : `${ID_PREFIX[kind]}_${hex.toLowerCase()}`;
}
