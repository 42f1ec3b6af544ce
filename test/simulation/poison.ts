import type { AnyProjection } from '../../projections/projection-set.js';
import type { ProjectedRow, Projection } from '../../projections/projection.js';
import type { RawEvent } from '../../src/event-store/recorded-event.js';
import type { RowChange } from '../../src/projection-engine/ports.js';

export type Poison = 'unknown-type' | 'unstorable' | 'tripwire';

/** An event that cannot be applied, right behind another one on its stream. */
export function poisonAfter(raw: RawEvent, poison: Poison): RawEvent {
  const position = raw.position + 5n;
  const place = { ...raw, id: `${poison}-${position}`, position };
  switch (poison) {
    case 'unknown-type':
      return { ...place, type: 'SessionForgotten', data: {} };
    case 'tripwire':
      return { ...place, type: 'SessionRenamed', data: { title: null } };
    case 'unstorable':
      return {
        ...place,
        type: 'ItemAppended',
        data: {
          item_id: place.id,
          response_id: 'r',
          item_type: 'message',
          payload: { role: 'user', content: [] },
          created_by: null,
        },
      };
  }
}

export const isPoison = ({ id }: RawEvent): boolean => /^(unknown-type|unstorable|tripwire)-/.test(id);

/** What the database refuses: the item that came from such an event. */
export function isUnstorable(changes: readonly RowChange[]): boolean {
  return changes.some(
    ({ projection, whole }) =>
      projection.table.name === 'session_items' &&
      whole.some((row) => String(Reflect.get(row, 'item_id')).startsWith('unstorable-')),
  );
}

const tripwire: Projection<ProjectedRow> = {
  name: 'tripwire',
  version: 1,
  table: {
    name: 'tripwire',
    columns: { position: 'bigint' },
    primaryKey: ['position'],
    guards: ['position'],
    indexes: [],
    hot: [],
    insertOnly: false,
  },
  // Named before it is applied, since only events that touch a row are applied.
  keysOf: ({ id, position }) => (id.startsWith('tripwire-') ? [[position.toString()]] : []),
  apply: ({ id }) => {
    if (id.startsWith('tripwire-')) throw new Error('a projector stumbles');
  },
};

/** A projection that throws on such an event. */
export const tripwireProjection: AnyProjection = tripwire;
