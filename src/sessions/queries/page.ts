/** A page of a list in SQL: `$n` numbering is the caller's, cursors compare by the sort column of the row they name. */
export interface PageRequest {
  readonly limit: number;
  readonly after: string | null;
  readonly before: string | null;
  readonly order: 'asc' | 'desc';
}

/**
 * Conditions and order for one page. An unknown cursor compares with NULL and gives an empty page
 * (`contract/sessions.md` 1.4). `cursor` finds the sort value of the row with the id in the placeholder.
 */
export function pageSql(
  page: PageRequest,
  sortColumn: string,
  cursor: (placeholder: string) => string,
  placeholders: { readonly after: string; readonly before: string },
): { readonly where: string; readonly order: string } {
  const [beyond, short] = page.order === 'asc' ? ['>', '<'] : ['<', '>'];
  const after = `(${placeholders.after}::text IS NULL OR ${sortColumn} ${beyond} ${cursor(placeholders.after)})`;
  const before = `(${placeholders.before}::text IS NULL OR ${sortColumn} ${short} ${cursor(placeholders.before)})`;
  return { where: `${after} AND ${before}`, order: `${sortColumn} ${page.order === 'asc' ? 'ASC' : 'DESC'}` };
}

export interface Page<Row> {
  readonly rows: readonly Row[];
  readonly hasMore: boolean;
}

/** Rows were asked for one beyond the limit, which tells whether there are more. */
export function cutPage<Row>(rows: readonly Row[], limit: number): Page<Row> {
  return { rows: rows.slice(0, limit), hasMore: rows.length > limit };
}
