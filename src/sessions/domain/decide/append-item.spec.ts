import { describe, it } from '@jest/globals';
import { DeciderSpecification } from '../../../../test/support/specifications/decider-specification.js';
import {
  childSpawnOf,
  closed,
  message,
  renamed,
  spawned,
  spawnOf,
} from '../../../../test/support/specifications/session-events.js';
import type { SessionEvent } from '../events.js';
import { sessionAggregate } from '../../aggregate.js';
import { decideAppendItem, type NewItem } from './append-item.js';

const session = DeciderSpecification.for(sessionAggregate);

function newItem(event: SessionEvent): NewItem {
  if (event.type !== 'ItemAppended') throw new Error('not an item');
  const {
    item_id: itemId,
    response_id: responseId,
    item_type: type,
    payload,
    created_by: createdBy,
  } = event.data;
  return { itemId, responseId, type, payload, createdBy };
}

const question = message('i1', 'user', '  Fix the\nbuild ');

describe('an item', () => {
  it('names a root that has no title, when a user says something (contract/sessions.md 5.5)', () => {
    session
      .given([spawned(spawnOf('R'))])
      .when((state) => decideAppendItem(state, newItem(question)))
      .then([question, renamed('Fix the build')], { item_id: 'i1' });
  });

  it.each<[string, SessionEvent[], SessionEvent]>([
    ['a title that stands', [spawned(spawnOf('R', { title: 't' }))], question],
    ['an empty title that was given', [spawned(spawnOf('R', { title: '' }))], question],
    ['a child, whose title is its name', [spawned(childSpawnOf('C', ['R']))], question],
    ['what the assistant says', [spawned(spawnOf('R'))], message('i1', 'assistant', 'Done.')],
    ['meta messages', [spawned(spawnOf('R'))], message('i1', 'user', 'x', { is_meta: true })],
    ['blanks', [spawned(spawnOf('R'))], message('i1', 'user', ' \n ')],
    [
      'a seed that was given before',
      [spawned(spawnOf('R')), message('i0', 'user', 'x'), renamed('x')],
      question,
    ],
  ])('leaves the title alone: %s', (_what, given, item) => {
    session
      .given(given)
      .when((state) => decideAppendItem(state, newItem(item)))
      .then([item], { item_id: 'i1' });
  });

  it('still ends the transcript of a closed session', () => {
    session
      .given([spawned(spawnOf('R', { title: 't' })), closed()])
      .when((state) => decideAppendItem(state, newItem(question)))
      .then([question]);
  });

  it('is refused without a session', () => {
    session
      .given([])
      .when((state) => decideAppendItem(state, newItem(question)))
      .thenRefused('not_found');
  });
});
