import { expect, it } from '@jest/globals';
import type { SessionFacts } from '../../src/sessions/domain/facts.js';
import { changedRow, rowOf } from './row.js';

const before: SessionFacts = {
  id: 'conv_1',
  parentId: 'conv_0',
  rootId: 'conv_0',
  ancestorIds: ['conv_0'],
  owner: 'ann',
  agentId: 'ag_1',
  agentName: 'agent',
  title: 'tool:name',
  renames: 0,
  tool: null,
  sessionName: null,
  labels: {},
  status: 'none',
  activeResponseId: null,
  backgroundTaskCount: null,
  lastTaskError: null,
  closed: null,
  successorId: null,
  deleted: false,
  createdAt: 1,
  updatedAt: 1,
  createdPosition: 1n,
  activityPosition: 1n,
  position: 1n,
};
/** Everything that may change in a session's life, changed. A new fact belongs here, or among those of the birth above. */
const after: SessionFacts = {
  ...before,
  title: 'another',
  renames: 1,
  labels: { a: 'b' },
  status: 'failed',
  activeResponseId: 'resp',
  backgroundTaskCount: 2,
  lastTaskError: { code: 'c', message: 'm' },
  closed: 'done',
  successorId: 'conv_2',
  deleted: true,
  updatedAt: 2,
  activityPosition: 2n,
  position: 2n,
};

it('a row made of the one before is the row that its facts make', () => {
  expect(changedRow(rowOf(before), after)).toEqual(rowOf(after));
});
