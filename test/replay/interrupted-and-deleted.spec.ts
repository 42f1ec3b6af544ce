import { expect, it } from '@jest/globals';
import { join } from 'node:path';
import { play } from '../../src/demo/player.js';
import { RollcallClient } from '../../src/demo/rollcall-client.js';
import { expectGolden } from '../support/golden.js';
import { api } from '../support/http.js';
import { projectDirectory } from '../support/process/started-process.js';
import { railNode, type RailNode, replay } from '../support/replay.js';
import { stack } from '../support/stack.js';
import { unique } from '../support/unique.js';

const NAME = 'interrupted-and-deleted';
const folder = join(projectDirectory(), 'test/replay');
const recorded = replay(join(folder, `${NAME}.ndjson`));
const rootOf = recorded.events.find(({ event }) => event.type === 'SessionSpawned')?.subjectId ?? '';

it.each(Object.keys(recorded.tables))('gives the golden rows of %s', (table) => {
  expectGolden(join(folder, 'golden', `${NAME}.${table}.json`), recorded.tables[table]);
});

it('shows the children that were not deleted', () => {
  const rows = recorded.rail(rootOf);
  expect(rows.map(({ title, busy }) => [title, busy])).toEqual([
    ['coder:schema', false],
    ['coder:copy', true],
  ]);
});

it('the same commands over HTTP give the same rail', async () => {
  const server = api(stack().a);
  const railOver = async (sessionId: string): Promise<RailNode[]> => {
    const path = `/v1/sessions/${sessionId}/child_sessions?order=asc&limit=100`;
    const list = await server.get<{ data: { id: string }[] }>(path);
    return Promise.all(list.body.data.map(async (row) => railNode(row, await railOver(row.id))));
  };
  const client = new RollcallClient(stack().a, null);
  const playing = { client, run: unique('replay'), speed: Infinity, onEvent: () => undefined };
  expect(await railOver(await play(recorded.events, playing))).toEqual(recorded.rail(rootOf));
}, 60_000);
