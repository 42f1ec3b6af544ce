import { notFound } from '../../http/errors.js';
import type { PageQuery } from '../../http/validation.js';
import { type IdKind, parseId } from '../../ids.js';
import type { PageRequest } from '../queries/page.js';

/** A cursor is read like an id in a path: malformed is 404 (`contract/sessions.md` 1.4). */
export function toPage(kind: IdKind, query: PageQuery): PageRequest {
  return {
    limit: query.limit,
    order: query.order,
    after: cursor(kind, query.after),
    before: cursor(kind, query.before),
  };
}

function cursor(kind: IdKind, raw: string | undefined): string | null {
  if (raw === undefined) return null;
  const id = parseId(kind, raw);
  if (id === null) throw notFound();
  return id;
}
