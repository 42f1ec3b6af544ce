import { Map as ImmutableMap, Set as ImmutableSet } from 'immutable';
import type { ElicitationEvent } from '../../elicitations/domain/events.js';
import { foldPrompts, noPrompts, type PromptBook } from '../../elicitations/domain/prompt-book.js';
import { foldCascades, noCascades, type Cascades } from './cascades.js';
import { foldFacts, type Envelope, type SessionFacts, type SessionStreamEvent } from './facts.js';

/** What decisions about one session need; small, whatever the length of its stream. */
export interface SessionState {
  /** Null: the stream does not exist (or holds no `SessionSpawned`). */
  readonly facts: SessionFacts | null;
  readonly prompts: PromptBook;
  readonly children: ChildNames;
  readonly cascades: Cascades;
}

/** The open children with the names that they hold, and those that were released. */
export interface ChildNames {
  readonly byName: ImmutableMap<string, string>;
  readonly byChild: ImmutableMap<string, OpenChild>;
  readonly released: ImmutableSet<string>;
}

export interface OpenChild {
  /** Null for an untitled child, which holds no name. */
  readonly name: string | null;
  readonly renames: number;
}

export const noSession: SessionState = {
  facts: null,
  prompts: noPrompts,
  children: { byName: ImmutableMap(), byChild: ImmutableMap(), released: ImmutableSet() },
  cascades: noCascades,
};

const ELICITATION_TYPES: ReadonlySet<string> = new Set<ElicitationEvent['type']>([
  'ElicitationRequested',
  'ElicitationResolved',
  'ElicitationExpired',
  'ElicitationWithdrawn',
]);

export function evolveSession(state: SessionState, event: SessionStreamEvent, at: Envelope): SessionState {
  return {
    facts: foldFacts(state.facts, event, at),
    prompts: isElicitation(event) ? foldPrompts(state.prompts, event) : state.prompts,
    children: foldNames(state.children, event),
    cascades: foldCascades(state.cascades, event),
  };
}

/** What commands and reads find: a deleted session is one that does not exist. */
export function apparent(state: SessionState): SessionState {
  return state.facts?.deleted ? noSession : state;
}

/** Every child that the stream names, in no particular order. */
export function childIds({ byChild, released }: ChildNames): string[] {
  return [...byChild.keys(), ...released];
}

function isElicitation(event: SessionStreamEvent): event is ElicitationEvent {
  return ELICITATION_TYPES.has(event.type);
}

function foldNames(names: ChildNames, event: SessionStreamEvent): ChildNames {
  switch (event.type) {
    case 'ChildSpawned':
      return hold(names, event.data.child_id, { name: event.data.name, renames: 0 });
    case 'ChildRenamed':
      return hold(names, event.data.child_id, { name: event.data.name, renames: event.data.sequence });
    case 'ChildReleased':
      return released(names, event.data.child_id);
    default:
      return names;
  }
}

function hold(names: ChildNames, childId: string, child: OpenChild): ChildNames {
  const { byName, byChild, released } = withoutName(names, childId);
  return {
    byName: child.name === null ? byName : byName.set(child.name, childId),
    byChild: byChild.set(childId, child),
    released: released.delete(childId),
  };
}

function released(names: ChildNames, childId: string): ChildNames {
  if (!names.byChild.has(childId)) return names;
  return { ...withoutName(names, childId), released: names.released.add(childId) };
}

function withoutName(names: ChildNames, childId: string): ChildNames {
  const child = names.byChild.get(childId);
  if (!child) return names;
  const holds = child.name !== null && names.byName.get(child.name) === childId;
  return {
    ...names,
    byName: holds ? names.byName.delete(child.name) : names.byName,
    byChild: names.byChild.delete(childId),
  };
}
