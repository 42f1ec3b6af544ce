import { describe, expect, it } from '@jest/globals';
import { join } from 'node:path';
import { play } from '../../src/demo/player.js';
import { railLines } from '../../src/demo/rail/rail.js';
import { readRail } from '../../src/demo/rail/read-rail.js';
import { unpainted } from '../../src/demo/rail/paint.js';
import { RollcallClient } from '../../src/demo/rollcall-client.js';
import { expectGolden } from '../support/golden.js';
import { api } from '../support/http.js';
import { projectDirectory } from '../support/process/started-process.js';
import { railNode, type RailNode, replay } from '../support/replay.js';
import { stack } from '../support/stack.js';
import { unique } from '../support/unique.js';

const NAME = 'orchestrator-with-eight-children';
const folder = join(projectDirectory(), 'test/replay');
const golden = (ending: string): string => join(folder, 'golden', `${NAME}.${ending}`);
const recorded = replay(join(folder, `${NAME}.ndjson`));
const rootOf = recorded.events.find(({ event }) => event.type === 'SessionSpawned')?.subjectId ?? '';

describe('one straight fold of the recorded log', () => {
  it.each(Object.keys(recorded.tables))('gives the golden rows of %s', (table) => {
    expectGolden(golden(`${table}.json`), recorded.tables[table]);
  });

  it('gives the rail of an orchestrator with eight children', () => {
    expect(recorded.rail(rootOf)).toHaveLength(8);
  });
});

describe('the same commands over HTTP', () => {
  const server = api(stack().a);

  async function railOver(sessionId: string): Promise<RailNode[]> {
    const list = await server.get<{ data: { id: string }[] }>(
      `/v1/sessions/${sessionId}/child_sessions?order=asc&limit=100`,
    );
    return Promise.all(list.body.data.map(async (row) => railNode(row, await railOver(row.id))));
  }

  it('give the same rail, and the rail of the demo', async () => {
    const client = new RollcallClient(stack().a, null);
    const run = unique('replay');
    const playing = { client, run, speed: Infinity, onEvent: () => undefined };
    const sessionId = await play(recorded.events, playing);

    expect(await railOver(sessionId)).toEqual(recorded.rail(rootOf));
    const lines = railLines(await readRail(client, sessionId), 100, unpainted);
    expectGolden(golden('rail.txt'), `${lines.join('\n')}\n`);

    // The same run once more repeats its keys, and so appends nothing.
    expect(await play(recorded.events, playing)).toBe(sessionId);
    expect(await railOver(sessionId)).toEqual(recorded.rail(rootOf));
  }, 60_000);
});
