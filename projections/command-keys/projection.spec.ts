import { describe, it } from '@jest/globals';
import { ProjectionSpecification } from '../../test/support/specifications/projection-specification.js';
import { keyed, on, positionOf, timeOf } from '../../test/support/specifications/recorded-events.js';
import { message, renamed } from '../../test/support/specifications/session-events.js';
import { commandKeysProjection } from './projection.js';

const keys = ProjectionSpecification.for(commandKeysProjection);

describe('the keys of commands', () => {
  it('lead to what was answered, by each key of the command', () => {
    const command = {
      keys: [
        { key: 'a', hash: '1' },
        { key: 'b', hash: '2' },
      ],
      status: 202,
      result: { item_id: 'i' },
    };
    keys.given([keyed(on('R', message('i', 'user', 'x')), command)]).then([
      {
        key: 'a',
        hash: '1',
        status: 202,
        result: { item_id: 'i' },
        recorded_at: timeOf(1),
        position: positionOf(1),
      },
      { key: 'b', hash: '2', status: 202, result: { item_id: 'i' } },
    ]);
  });

  it('belong to their first command', () => {
    const command = (
      hash: string,
    ): { keys: { key: string; hash: string }[]; status: number; result: object } => ({
      keys: [{ key: 'a', hash }],
      status: 200,
      result: {},
    });
    keys
      .given([
        keyed(on('R', renamed('x')), { ...command('1'), result: {} }),
        keyed(on('S', renamed('y')), { ...command('2'), result: {} }),
      ])
      .then([{ key: 'a', hash: '1', position: positionOf(1) }]);
  });

  it('are not there for commands without any', () => {
    keys.given([on('R', renamed('x'))]).thenNothing();
  });
});
