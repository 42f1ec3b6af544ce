import type { Position } from '../../event-store/position.js';

/**
 * A place in a list: that of a row, or the sort value of the last row of a page (`next_cursor`), which stays where it
 * is when the row moves. `movedBeyond`: see `list-sessions.ts`; null where rows do not move away from the reader.
 */
export type Cursor = { readonly kind: 'row'; readonly id: string } | Place;

export interface Place {
  readonly kind: 'place';
  readonly position: Position;
  readonly movedBeyond: Position | null;
}

/** A page of a list in SQL: `$n` numbering is the caller's. */
export interface PageRequest {
  readonly limit: number;
  readonly after: Cursor | null;
  readonly before: Cursor | null;
  readonly order: 'asc' | 'desc';
}

/** The SQL placeholders of one cursor: the id of a row, or else a sort value. */
export interface CursorPlaceholders {
  readonly row: string;
  readonly place: string;
}

/** The two values of a cursor's placeholders, row first. */
export function cursorValues(cursor: Cursor | null): [string | null, string | null] {
  switch (cursor?.kind) {
    case undefined:
      return [null, null];
    case 'row':
      return [cursor.id, null];
    case 'place':
      return [null, cursor.position.toString()];
  }
}

/**
 * Conditions and order for one page. The id of an unknown row compares with NULL and gives an empty page
 * (`contract/sessions.md` 1.4). `valueOf` finds the sort value of the row with the id in the placeholder.
 */
export function pageSql(
  page: PageRequest,
  sortColumn: string,
  valueOf: (placeholder: string) => string,
  placeholders: { readonly after: CursorPlaceholders; readonly before: CursorPlaceholders },
): { readonly where: string; readonly order: string } {
  const [beyond, short] = page.order === 'asc' ? ['>', '<'] : ['<', '>'];
  const compared = (side: string, { row, place }: CursorPlaceholders): string =>
    `((${row}::text IS NULL AND ${place}::bigint IS NULL) OR ${sortColumn} ${side} coalesce(${place}, ${valueOf(row)}))`;
  const where = `${compared(beyond, placeholders.after)} AND ${compared(short, placeholders.before)}`;
  return { where, order: `${sortColumn} ${page.order === 'asc' ? 'ASC' : 'DESC'}` };
}

export interface Page<Row> {
  readonly rows: readonly Row[];
  /** Where the next page begins; null when no more follows. */
  readonly next: Place | null;
}

/** Rows were asked for one beyond the limit, which tells whether there are more. */
export function cutPage<Source, Row>(
  found: readonly Source[],
  limit: number,
  read: (source: Source) => { readonly row: Row; readonly position: Position },
): Page<Row> {
  const kept = found.slice(0, limit).map(read);
  const last = kept.at(-1);
  const next: Place | null =
    last && found.length > limit ? { kind: 'place', position: last.position, movedBeyond: null } : null;
  return { rows: kept.map(({ row }) => row), next };
}
