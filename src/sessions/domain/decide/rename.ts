import type { Decision } from '../../../event-store/aggregates/aggregate.js';
import { refuse } from '../../../refusal.js';
import type { SessionEvent } from '../events.js';
import type { SessionState } from '../state.js';
import { openNameOf, type NameTaken } from './spawn.js';

export interface SessionPatch {
  /** Undefined: stays. */
  readonly title?: string | null;
  readonly labels?: Readonly<Record<string, string>>;
}

/** On the session's own stream; for a child after its parent has granted the name. */
export function decidePatch(state: SessionState, patch: SessionPatch): Decision<SessionEvent, null> {
  const facts = state.facts;
  if (!facts) return refuse('not_found', 'Session not found');
  const events: SessionEvent[] = [];
  if (patch.title !== undefined && patch.title !== facts.title) {
    events.push({ type: 'SessionRenamed', data: { title: patch.title } });
  }
  const labels = Object.entries(patch.labels ?? {}).filter(([key, value]) => facts.labels[key] !== value);
  if (labels.length > 0)
    events.push({ type: 'SessionLabelled', data: { labels: Object.fromEntries(labels) } });
  return { events, result: null };
}

/** Whether the child goes by this title in its parent's book of names. */
export function holdsName(parent: SessionState, childId: string, title: string | null): boolean {
  return (parent.children.byChild.get(childId) ?? null) === openNameOf(title);
}

/** On the parent's stream: an open child takes a new name. A child that is gone or released holds none. */
export function decideRenameChild(
  parent: SessionState,
  childId: string,
  title: string | null,
  released: string | null,
): Decision<SessionEvent, NameTaken | null> {
  const name = openNameOf(title);
  const standing = parent.children.byChild.get(childId) ?? null;
  if (name === standing) return { events: [], result: null };
  const holder = name === null ? undefined : parent.children.byName.get(name);
  if (holder !== undefined && holder !== released) return { events: [], result: { nameTakenBy: holder } };
  const release: SessionEvent[] =
    holder === undefined ? [] : [{ type: 'ChildReleased', data: { child_id: holder } }];
  return {
    events: [...release, { type: 'ChildRenamed', data: { child_id: childId, name, title } }],
    result: null,
  };
}
