import type { Decision } from '../../../event-store/aggregates/aggregate.js';
import { refuse } from '../../../refusal.js';
import type { SessionEvent } from '../events.js';
import { titleSeed } from '../preview.js';
import type { SessionState } from '../state.js';

export interface NewItem {
  readonly itemId: string;
  readonly responseId: string;
  readonly type: string;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly createdBy: string | null;
}

/**
 * A closed session still takes the tail of its transcript. The first user message names a top-level session that has
 * no title; a child's title is its name under the parent and is never guessed.
 */
export function decideAppendItem(
  state: SessionState,
  item: NewItem,
): Decision<SessionEvent, { item_id: string }> {
  const facts = state.facts;
  if (!facts) return refuse('not_found', 'Session not found');
  const appended: SessionEvent = {
    type: 'ItemAppended',
    data: {
      item_id: item.itemId,
      response_id: item.responseId,
      item_type: item.type,
      payload: item.payload,
      created_by: item.createdBy,
    },
  };
  const seed = facts.title === null && facts.parentId === null ? titleSeed(item.type, item.payload) : null;
  const renamed: SessionEvent[] = seed === null ? [] : [{ type: 'SessionRenamed', data: { title: seed } }];
  return { events: [appended, ...renamed], result: { item_id: item.itemId } };
}
