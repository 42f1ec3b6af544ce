import { Map as ImmutableMap, Set as ImmutableSet } from 'immutable';
import type { OpenPrompt, SettledState } from '../elicitations/domain/prompt-book.js';
import type { SnapshotCodec } from '../event-store/aggregates/snapshot-store.js';
import type { Cascades } from './domain/cascades.js';
import type { SessionFacts } from './domain/facts.js';
import type { OpenChild, SessionState } from './domain/state.js';

interface StoredFacts extends Omit<SessionFacts, 'createdPosition' | 'activityPosition' | 'position'> {
  readonly createdPosition: string;
  readonly activityPosition: string;
  readonly position: string;
}

/** Maps go as entries, so that ids like `__proto__` stay data. */
interface StoredState {
  readonly facts: StoredFacts | null;
  readonly open: readonly (readonly [string, OpenPrompt])[];
  readonly settled: readonly (readonly [string, SettledState])[];
  readonly children: readonly (readonly [string, OpenChild])[];
  readonly released: readonly string[];
  readonly cascades: Omit<Cascades, 'followed'>;
  readonly followed: readonly (readonly [string, number])[];
}

export const sessionSnapshots: SnapshotCodec<SessionState> = {
  version: 3,
  toJson: ({ facts, prompts, children, cascades: { followed, ...cascades } }): StoredState => ({
    facts: facts && {
      ...facts,
      createdPosition: facts.createdPosition.toString(),
      activityPosition: facts.activityPosition.toString(),
      position: facts.position.toString(),
    },
    open: [...prompts.open],
    settled: [...prompts.settled],
    children: [...children.byChild],
    released: [...children.released],
    cascades,
    followed: [...followed],
  }),
  fromJson: (json): SessionState => {
    const { facts, open, settled, children, released, cascades, followed } = json as StoredState;
    return {
      facts: facts && {
        ...facts,
        createdPosition: BigInt(facts.createdPosition),
        activityPosition: BigInt(facts.activityPosition),
        position: BigInt(facts.position),
      },
      prompts: { open: ImmutableMap(open), settled: ImmutableMap(settled) },
      children: {
        byName: ImmutableMap(children.flatMap(nameOf)),
        byChild: ImmutableMap(children),
        released: ImmutableSet(released),
      },
      cascades: { ...cascades, followed: ImmutableMap(followed) },
    };
  },
};

function nameOf([childId, { name }]: readonly [string, OpenChild]): [string, string][] {
  return name === null ? [] : [[name, childId]];
}
