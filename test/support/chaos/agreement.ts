import { expect } from '@jest/globals';
import type { StoredEvent } from '../event-store.js';
import { until } from '../until.js';
import { readModels, type Row } from './read-models.js';
import { isBusy, toldByLog, type ToldSession } from './told-by-log.js';
import { readWholeLog } from './whole-log.js';

export interface Places {
  readonly eventStoreUrl: string;
  readonly databaseUrl: string;
}

/**
 * Waits until everything in the log is projected and nothing is owed, then compares the read models with a plain
 * reading of the log. Gives back the log.
 */
export async function expectAgreement({ eventStoreUrl, databaseUrl }: Places): Promise<StoredEvent[]> {
  const log = await until(
    'the read models to have the whole log, and nothing owed',
    async () => {
      const [state] = await readModels(
        databaseUrl,
        (schema) =>
          `SELECT position, (SELECT count(*) FROM ${schema}.obligations WHERE NOT met) AS owed FROM ${schema}.checkpoint`,
      );
      // The log after what is owed: something may be appended in between, and then it is not the whole log.
      const events = await readWholeLog(eventStoreUrl);
      const head = BigInt(events.at(-1)?.position ?? 0);
      return BigInt(state?.['position'] as string) >= head && state?.['owed'] === '0' && events;
    },
    { within: 20_000, every: 200 },
  );
  expectNothingTwice(log);
  const told = [...toldByLog(log).values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  const rows = (sql: (schema: string) => string): Promise<Row[]> => readModels(databaseUrl, sql);
  expect(
    await rows(
      (s) =>
        `SELECT id, parent_id, title, status, closed, deleted, position FROM ${s}.sessions ORDER BY id COLLATE "C"`,
    ),
  ).toEqual(
    told.map(({ id, parent, title, status, closed, deleted, position }) => ({
      id,
      parent_id: parent,
      title,
      status,
      closed,
      deleted,
      position,
    })),
  );
  expect(
    await rows((s) => `SELECT id, parent_id, busy FROM ${s}.child_session_summary ORDER BY id COLLATE "C"`),
  ).toEqual(
    told
      .filter(({ parent }) => parent !== null)
      .map((one) => ({ id: one.id, parent_id: one.parent, busy: isBusy(one) })),
  );
  expect(
    await rows(
      (s) =>
        `SELECT session_id, array_agg(item_id ORDER BY position) AS items FROM ${s}.session_items GROUP BY 1 ORDER BY 1`,
    ),
  ).toEqual(told.filter(({ items }) => items.length > 0).map(({ id, items }) => ({ session_id: id, items })));
  expect(
    await rows(
      (s) =>
        `SELECT session_id, array_agg(elicitation_id ORDER BY elicitation_id) AS open FROM ${s}.pending_elicitations WHERE state = 'open' GROUP BY 1 ORDER BY 1`,
    ),
  ).toEqual(
    told
      .filter(({ open }) => open.size > 0)
      .map(({ id, open }) => ({ session_id: id, open: [...open].sort() })),
  );
  expect(
    await rows(
      (s) =>
        `SELECT ancestor_id, sum(pending)::int AS pending, sum(busy)::int AS busy FROM ${s}.session_rollups WHERE pending > 0 OR busy > 0 GROUP BY 1 ORDER BY 1`,
    ),
  ).toEqual(countsToldBy(told));
  expect(await rows((s) => `SELECT count(*)::int AS keys FROM ${s}.command_keys`)).toEqual([
    { keys: new Set(keysIn(log)).size },
  ]);
  return log;
}

function countsToldBy(told: readonly ToldSession[]): Row[] {
  return told.flatMap(({ id }) => {
    const below = told.filter((one) => one.id === id || one.line.includes(id));
    const pending = below.reduce((sum, { open }) => sum + open.size, 0);
    const busy = below.filter(isBusy).length;
    return pending + busy > 0 ? [{ ancestor_id: id, pending, busy }] : [];
  });
}

/** No event, no command, no birth and no item is in the log a second time. */
function expectNothingTwice(log: readonly StoredEvent[]): void {
  const twice = (values: readonly unknown[]): unknown[] =>
    values.filter((value, index) => values.indexOf(value) !== index);
  const ofType = (type: string, member: string): unknown[] =>
    log.filter((event) => event.type === type).map(({ data }) => data[member]);
  expect(twice(log.map(({ id }) => id))).toEqual([]);
  expect(twice(keysIn(log))).toEqual([]);
  expect(twice(ofType('SessionSpawned', 'session_id'))).toEqual([]);
  expect(twice(ofType('ChildSpawned', 'child_id'))).toEqual([]);
  expect(twice(ofType('ItemAppended', 'item_id'))).toEqual([]);
}

function keysIn(log: readonly StoredEvent[]): string[] {
  return log.flatMap(({ metadata }) => {
    const command = metadata['command'] as { keys: { key: string }[] } | undefined;
    return command?.keys.map(({ key }) => key) ?? [];
  });
}
