import { Map as ImmutableMap } from 'immutable';
import type { ElicitationEvent } from '../../elicitations/domain/events.js';
import { foldPrompts, noPrompts, type PromptBook } from '../../elicitations/domain/prompt-book.js';
import { foldFacts, type Envelope, type SessionFacts, type SessionStreamEvent } from './facts.js';

/** What decisions about one session need; small, whatever the length of its stream. */
export interface SessionState {
  /** Null: the stream does not exist (or holds no `SessionSpawned`). */
  readonly facts: SessionFacts | null;
  readonly prompts: PromptBook;
  readonly children: ChildNames;
}

/** The names that open children hold. A child without a name holds none. */
export interface ChildNames {
  readonly byName: ImmutableMap<string, string>;
  readonly byChild: ImmutableMap<string, string>;
}

export const noSession: SessionState = {
  facts: null,
  prompts: noPrompts,
  children: { byName: ImmutableMap(), byChild: ImmutableMap() },
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
  };
}

function isElicitation(event: SessionStreamEvent): event is ElicitationEvent {
  return ELICITATION_TYPES.has(event.type);
}

function foldNames(names: ChildNames, event: SessionStreamEvent): ChildNames {
  switch (event.type) {
    case 'ChildSpawned':
    case 'ChildRenamed':
      return take(release(names, event.data.child_id), event.data.child_id, event.data.name);
    case 'ChildReleased':
      return release(names, event.data.child_id);
    default:
      return names;
  }
}

function take(names: ChildNames, childId: string, name: string | null): ChildNames {
  if (name === null) return names;
  return { byName: names.byName.set(name, childId), byChild: names.byChild.set(childId, name) };
}

function release(names: ChildNames, childId: string): ChildNames {
  const name = names.byChild.get(childId);
  if (name === undefined) return names;
  const holder = names.byName.get(name);
  return {
    byName: holder === childId ? names.byName.delete(name) : names.byName,
    byChild: names.byChild.delete(childId),
  };
}
