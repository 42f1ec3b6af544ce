/** contract/sessions.md 1.3: an empty page has null ids, present and not omitted. */
export interface ListEnvelope<Row> {
  readonly object: 'list';
  readonly data: readonly Row[];
  readonly first_id: string | null;
  readonly last_id: string | null;
  readonly has_more: boolean;
  /** Opaque; only where more follows. */
  readonly next_cursor?: string;
}

export function listEnvelope<Row extends { readonly id: string }>(
  data: readonly Row[],
  hasMore: boolean,
  nextCursor?: string,
): ListEnvelope<Row> {
  const page = {
    object: 'list',
    data,
    first_id: data.at(0)?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: hasMore,
  } as const;
  return nextCursor === undefined ? page : { ...page, next_cursor: nextCursor };
}
