import { describe, expect, it } from '@jest/globals';
import { projectionSet, type AnyProjection } from '../../projections/projection-set.js';
import { on, recorded } from '../../test/support/specifications/recorded-events.js';
import { requested, statusChanged } from '../../test/support/specifications/session-events.js';
import { emptyBuffer, foldInto, keysTouched, ProjectorFailure } from './batch-fold.js';

const rollups = projectionSet.find(({ name }) => name === 'session-rollups') as AnyProjection;

it('the keys that a batch touches are loaded once each', () => {
  const events = recorded([
    on('C', statusChanged('running'), ['R']),
    on('C', statusChanged('idle'), ['R']),
    on('bc', requested('E'), ['a']),
    on('c', requested('E'), ['ab']),
  ]);
  const keys = keysTouched(rollups, events);
  expect(keys).toEqual(
    expect.arrayContaining([
      ['R', 'C'],
      ['C', 'C'],
      ['a', 'bc'],
      ['ab', 'c'],
    ]),
  );
  expect(keys).toHaveLength(6);
});

describe('a projector that throws', () => {
  const broken: AnyProjection = {
    ...rollups,
    name: 'broken',
    apply: () => {
      throw new Error('boom');
    },
  };

  it('is named together with the event that it threw on', () => {
    const [event] = recorded([on('C', statusChanged('running'))]);
    const fold = (): void => foldInto(emptyBuffer(broken), broken, event ? [event] : []);
    expect(fold).toThrow(ProjectorFailure);
    expect(fold).toThrow(expect.objectContaining({ event, projection: 'broken' }));
  });
});
