import { describe, it } from '@jest/globals';
import { ProjectionSpecification } from '../../test/support/specifications/projection-specification.js';
import { on, positionOf, recorded } from '../../test/support/specifications/recorded-events.js';
import {
  after,
  cascadeCompleted,
  closed,
  deleted,
  interrupted,
} from '../../test/support/specifications/session-events.js';
import { sessionDeletionsProjection } from './projection.js';

const deletions = ProjectionSpecification.for(sessionDeletionsProjection);

describe('the mark of a deletion', () => {
  it('runs until everything below has been reached', () => {
    deletions
      .given([on('C', deleted(2), ['R'])])
      .thenOnly({ id: 'C', root_id: 'R', running: true, position: positionOf(1) });
    deletions
      .given([on('C', deleted(2), ['R']), on('C', cascadeCompleted('delete'), ['R'])])
      .thenOnly({ id: 'C', root_id: 'R', running: false, position: positionOf(2) });
  });

  it('has nothing to wait for where there are no children', () => {
    deletions.given([on('R', deleted())]).then([{ id: 'R', root_id: 'R', running: false }]);
  });

  it('does not run again when the log says it again', () => {
    const log = recorded([on('R', deleted(1)), on('R', cascadeCompleted('delete'))]);
    const again = log.map((event) => ({ ...event, position: event.position + 100n }));
    deletions.givenLog([...log, ...again]).then([{ id: 'R', running: false, position: positionOf(2) }]);
  });

  it('is for wishes of their own: who follows is hidden by the one above', () => {
    deletions.given([on('C', deleted(0, after('R')), ['R'])]).thenNothing();
  });

  it('has nothing to do with other ends', () => {
    deletions
      .given([
        on('R', closed()),
        on('R', interrupted({ children: 1 })),
        on('R', cascadeCompleted('interrupt')),
        on('R', cascadeCompleted('delete')),
      ])
      .thenNothing();
  });
});
