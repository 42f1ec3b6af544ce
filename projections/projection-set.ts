import { agentsProjection } from './agents/projection.js';
import { childSessionSummaryProjection } from './child-session-summary/projection.js';
import { commandKeysProjection } from './command-keys/projection.js';
import { obligationsProjection } from './obligations/projection.js';
import { pendingElicitationsProjection } from './pending-elicitations/projection.js';
import type { ProjectedRow, Projection } from './projection.js';
import { sessionDeletionsProjection } from './session-deletions/projection.js';
import { sessionItemsProjection } from './session-items/projection.js';
import { sessionRollupsProjection } from './session-rollups/projection.js';
import { sessionsProjection } from './sessions/projection.js';

/** A projection whose row type does not matter to the engine. */
export type AnyProjection = Projection<ProjectedRow>;

/** All read models of this build: one schema, one owner, one checkpoint. */
export const projectionSet: readonly AnyProjection[] = [
  erase(sessionsProjection),
  erase(childSessionSummaryProjection),
  erase(sessionRollupsProjection),
  erase(sessionItemsProjection),
  erase(sessionDeletionsProjection),
  erase(pendingElicitationsProjection),
  erase(commandKeysProjection),
  erase(agentsProjection),
  erase(obligationsProjection),
];

/** Rows come back only from the projection's own table, so its row type holds inside and need not be known outside. */
function erase<Row extends ProjectedRow>(projection: Projection<Row>): AnyProjection {
  return projection as unknown as AnyProjection;
}
