import { expect, it } from '@jest/globals';
import { projectionSet } from '../../../projections/projection-set.js';
import type { ColumnType } from '../../../projections/projection.js';
import { sessionColumnsOf } from './session-scope.js';

/** A new projection says here how its rows belong to sessions, or that they belong to none. */
const OF_NO_SESSION = ['agents', 'command-keys'];

it.each(projectionSet.map((projection) => [projection.name, projection] as const))(
  '%s names the session of a row by columns that it has, or is known to have none',
  (name, { table }) => {
    const columns: Readonly<Record<string, ColumnType>> = table.columns;
    const scope = sessionColumnsOf(name);
    const ofSession = { own: 'text', ancestors: scope?.ancestors ? 'text[]' : undefined };
    expect(scope && { own: columns[scope.own], ancestors: columns[scope.ancestors ?? ''] }).toEqual(
      OF_NO_SESSION.includes(name) ? null : ofSession,
    );
  },
);
