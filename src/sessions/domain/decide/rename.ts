import type { Decision } from '../../../event-store/aggregates/aggregate.js';
import { refuse } from '../../../refusal.js';
import type { SessionEvent } from '../events.js';
import type { SessionState } from '../state.js';
import { openNameOf, type NameTaken } from './spawn.js';

export interface SessionPatch {
  /** Undefined: stays. */
  readonly title?: string | null;
  /** The rename that the parent granted; null where no parent is asked. */
  readonly sequence?: number | null;
  readonly labels?: Readonly<Record<string, string>>;
}

/**
 * On the session's own stream; for an open child after its parent has granted the name. Two renames may arrive here in
 * another order than the parent granted them: the older one is passed over.
 */
export function decidePatch(state: SessionState, patch: SessionPatch): Decision<SessionEvent, null> {
  const facts = state.facts;
  if (!facts) return refuse('not_found', 'Session not found');
  const events: SessionEvent[] = [];
  const sequence = patch.sequence ?? null;
  const isNew = sequence === null ? patch.title !== facts.title : sequence > facts.renames;
  if (patch.title !== undefined && isNew) {
    const data = { title: patch.title, ...(sequence === null ? {} : { sequence }) };
    events.push({ type: 'SessionRenamed', data });
  }
  const labels = Object.entries(patch.labels ?? {}).filter(([key, value]) => facts.labels[key] !== value);
  if (labels.length > 0)
    events.push({ type: 'SessionLabelled', data: { labels: Object.fromEntries(labels) } });
  return { events, result: null };
}

/** Null: the child is gone or closed and asks nobody for its title. */
export interface NameGranted {
  readonly sequence: number | null;
}

/** On the parent's stream: an open child takes a new title and the name that goes with it. */
export function decideRenameChild(
  parent: SessionState,
  childId: string,
  title: string | null,
  released: string | null,
): Decision<SessionEvent, NameTaken | NameGranted> {
  const child = parent.children.byChild.get(childId);
  if (!child) return { events: [], result: { sequence: null } };
  const name = openNameOf(title);
  const holder = name === null ? undefined : parent.children.byName.get(name);
  const isTaken = holder !== undefined && holder !== childId;
  if (isTaken && holder !== released) return { events: [], result: { nameTakenBy: holder } };
  const release: SessionEvent[] = isTaken ? [{ type: 'ChildReleased', data: { child_id: holder } }] : [];
  const sequence = child.renames + 1;
  const renamed: SessionEvent = { type: 'ChildRenamed', data: { child_id: childId, name, title, sequence } };
  return { events: [...release, renamed], result: { sequence } };
}
