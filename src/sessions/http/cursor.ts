import { parsePosition, type Position } from '../../event-store/position.js';
import { notFound } from '../../http/errors.js';
import { type ListEnvelope, listEnvelope } from '../../http/list-envelope.js';
import type { PageQuery } from '../../http/validation.js';
import { type IdKind, parseId } from '../../ids.js';
import type { Cursor, Page, PageRequest, Place } from '../queries/page.js';

/** `pos_<sort value>` or `pos_<sort value>_<moved beyond>`; no id looks like it. Opaque to clients. */
const PLACE = /^pos_([0-9]+)(?:_([0-9]+))?$/;

/** A cursor is a `next_cursor`, or read like an id in a path: malformed is 404 (`contract/sessions.md` 1.4). */
export function toPage(kind: IdKind, query: PageQuery): PageRequest {
  return {
    limit: query.limit,
    order: query.order,
    after: cursor(kind, query.after),
    before: cursor(kind, query.before),
  };
}

export function toEnvelope<Row extends { readonly id: string }>({
  rows,
  next,
}: Page<Row>): ListEnvelope<Row> {
  return next === null ? listEnvelope(rows, false) : listEnvelope(rows, true, format(next));
}

function format({ position, movedBeyond }: Place): string {
  return movedBeyond === null ? `pos_${position}` : `pos_${position}_${movedBeyond}`;
}

function cursor(kind: IdKind, raw: string | undefined): Cursor | null {
  if (raw === undefined) return null;
  const place = PLACE.exec(raw);
  if (place) {
    const [, position = '', movedBeyond] = place;
    return {
      kind: 'place',
      position: positionOr404(position),
      movedBeyond: movedBeyond === undefined ? null : positionOr404(movedBeyond),
    };
  }
  const id = parseId(kind, raw);
  if (id === null) throw notFound();
  return { kind: 'row', id };
}

function positionOr404(text: string): Position {
  const position = parsePosition(text);
  if (position === null) throw notFound();
  return position;
}
