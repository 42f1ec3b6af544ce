import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Client } from 'pg';
import {
  type Column,
  inventRow,
  type Key,
  keyColumns,
  plantField,
  removeRow,
  tablesOf,
} from '../../support/audit/planted.js';
import {
  type AuditBody,
  auditOf,
  type DifferenceBody,
  rollcallAudit,
} from '../../support/audit/rollcall-audit.js';
import { setters } from '../../support/audit/setters.js';
import { setSchema } from '../../support/chaos/read-models.js';
import { type StoredEvent } from '../../support/event-store.js';
import { readWholeLog } from '../../support/chaos/whole-log.js';
import { ExclusiveStack } from '../../support/exclusive-stack.js';
import { type Roll, roll, type SessionBody } from '../../support/roll.js';

jest.setTimeout(300_000);

/** More than any table has columns, so that every column has a row of its own, and rows to remove and to copy. */
const CHILDREN = 32;

let stack: ExclusiveStack;
let client: Client;
let schema: string;
let root: SessionBody;
let tables: Map<string, Column[]>;
let log: Map<string, StoredEvent>;
/** Of sessions with a whole life behind them, and of those that still run and ask. */
let ended: string[];
let busy: string[];

beforeAll(async () => {
  stack = await ExclusiveStack.start();
  const on = roll((await stack.startServer()).url);
  root = await on.root();
  ended = [];
  for (let child = 0; child < CHILDREN; child += 1) ended.push(await wholeLife(on, child));
  busy = [];
  for (let child = 0; child < 10; child += 1) busy.push(await busyChild(on, child));
  for (let child = 0; child < 8; child += 1) await deletedChild(on, child);
  for (let agent = 0; agent < 12; agent += 1) await on.agent();
  await on.snapshot(root.id);
  client = new Client({ connectionString: stack.databaseUrl });
  await client.connect();
  schema = await setSchema(stack.databaseUrl);
  tables = await tablesOf(client, schema);
  log = new Map((await readWholeLog(stack.eventStoreUrl)).map((event) => [event.position, event]));
});

afterAll(async () => {
  await client.end();
  await stack.dispose();
});

async function wholeLife(on: Roll, child: number): Promise<string> {
  const { id } = await on.child(root, { title: `worker:${child}` });
  await on.status(id, 'running', { response_id: 'resp_1' });
  await on.message(id, 'assistant', `step ${child}`);
  const prompt = await on.ask(id);
  await on.rename(id, `reviewer:renamed ${child}`);
  const labelled = await on.api.patch(
    `/v1/sessions/${id}`,
    { labels: { colour: 'red' } },
    { headers: { 'idempotency-key': `label-${child}` } },
  );
  expect(labelled.status).toBe(200);
  await on.resolve(id, prompt, { action: 'accept', content: { sure: true } });
  await on.status(id, 'failed', { output: 'out of memory' });
  await on.close(id, { reason: 'done', successor_session_id: root.id });
  return id;
}

async function busyChild(on: Roll, child: number): Promise<string> {
  const { id } = await on.child(root, { title: `busy:${child}` });
  await on.status(id, 'running');
  await on.ask(id);
  return id;
}

async function deletedChild(on: Roll, child: number): Promise<void> {
  const { id } = await on.child(root, { title: `deleted:${child}` });
  expect((await on.api.delete(`/v1/sessions/${id}`)).status).toBe(200);
}

/** Keys of rows of a table, one for each of its columns and more, in the order of the log. */
async function keysIn(table: string): Promise<Key[]> {
  const key = await keyColumns(client, schema, table);
  const only: Record<string, [string, unknown[]]> = {
    sessions: ['id = ANY($1)', [ended]],
    child_session_summary: ['id = ANY($1)', [ended]],
    session_rollups: ['ancestor_id = $1 AND session_id = ANY($2)', [root.id, busy]],
    session_items: ['session_id = ANY($1)', [ended]],
    pending_elicitations: ['session_id = ANY($1)', [ended]],
    command_keys: ['position IN (SELECT unnest($1::bigint[]))', [positionsOf('SessionLabelled')]],
    session_deletions: ['true', []],
    agents: ['true', []],
    obligations: ["kind = 'birth'", []],
  };
  const [where, values] = only[table] ?? ['false', []];
  const { rows } = await client.query<Key>(
    `SELECT ${key.join(', ')} FROM ${schema}.${table} WHERE ${where} ORDER BY position`,
    values,
  );
  return rows;
}

const positionsOf = (type: string): string[] =>
  [...log.values()].filter((event) => event.type === type).map(({ position }) => position);

interface Plant {
  readonly table: string;
  readonly key: Key;
  readonly field: string | null;
  /** Where the field is null: what was done to the row. */
  readonly kind: 'field' | 'removed' | 'invented';
}

/** One value changed in every column of every table, each in a row of its own, a row removed and a row invented in each. */
async function plantEverything(): Promise<Plant[]> {
  const plants: Plant[] = [];
  for (const [table, columns] of tables) {
    const keys = await keysIn(table);
    const identity = Object.keys(keys[0] ?? {});
    const take = (): Key => {
      const key = keys.shift();
      if (!key) throw new Error(`${table} has too few rows`);
      return key;
    };
    for (const column of columns.filter(({ name }) => !identity.includes(name))) {
      const key = take();
      await plantField(client, `${schema}.${table}`, key, column);
      plants.push({ table, key, field: column.name, kind: 'field' });
    }
    for (const name of identity) {
      const key = take();
      const column = columns.find((one) => one.name === name);
      if (column) await plantField(client, `${schema}.${table}`, key, column);
      plants.push({ table, key, field: null, kind: 'removed' });
      plants.push({ table, key: { ...key, [name]: `${key[name]}\u200b` }, field: null, kind: 'invented' });
    }
    const removed = take();
    await removeRow(client, `${schema}.${table}`, removed);
    plants.push({ table, key: removed, field: null, kind: 'removed' });
    const invented = Object.fromEntries(identity.map((name) => [name, 'nobody']));
    await inventRow(client, `${schema}.${table}`, columns, take(), invented);
    plants.push({ table, key: invented, field: null, kind: 'invented' });
  }
  return plants;
}

const nameOf = ({ projection, key, field, live }: DifferenceBody): string =>
  JSON.stringify([
    projection.replaceAll('-', '_'),
    Object.entries(key).sort(),
    field ?? (live === null ? 'removed' : 'invented'),
  ]);

const plantName = ({ table, key, field, kind }: Plant): string =>
  JSON.stringify([table, Object.entries(key).sort(), field ?? kind]);

/** What the report says of the event that set a field, as far as the log holds it. */
function settingOf({ projection, field, event }: DifferenceBody): unknown {
  const stored = log.get(event?.['position'] ?? '');
  const isStored =
    stored?.id === event?.['id'] &&
    stored?.stream === event?.['stream'] &&
    stored?.revision === event?.['revision'] &&
    stored?.type === event?.['type'];
  const place = { projection, field, isStored, stream: event?.['stream'] };
  // Two events of one millisecond leave the same time: then the first of them has set it.
  if (isTouchTime(projection, field)) return { ...place, time: event?.['recorded_at'] };
  const { status } = stored?.data ?? {};
  return { ...place, setter: [stored?.type, ...(stored?.type === 'SessionStatusChanged' ? [status] : [])] };
}

function expectedSetting({ projection, key, field, expected }: DifferenceBody): unknown {
  const subject = key['session_id'] ?? (projection === 'obligations' ? undefined : key['id']);
  const stream = subject === undefined ? expect.any(String) : expect.stringContaining(`-${subject}`);
  const place = { projection, field, isStored: true, stream };
  if (isTouchTime(projection, field)) return { ...place, time: expected };
  return { ...place, setter: setters[projection.replaceAll('-', '_')]?.[field ?? ''] };
}

function isTouchTime(projection: string, field: string | null): boolean {
  return field === 'updated_at' && projection !== 'agents';
}

it('a set that nobody touched is clean', async () => {
  const report = await auditOf(stack);
  expect(report).toMatchObject({ state: 'clean', differences: [], parked: [], truncated: false });
  let rows = 0;
  for (const table of tables.keys()) {
    const counted = await client.query<{ count: number }>(`SELECT count(*)::int FROM ${schema}.${table}`);
    rows += counted.rows[0]?.count ?? 0;
  }
  expect(report.rows_checked).toBe(rows);
});

describe('one changed field', () => {
  it('is found alone, named with its event, and the report tells a person so', async () => {
    const [, id = ''] = ended;
    await client.query(`UPDATE ${schema}.sessions SET title = 'planted' || chr(27) || '[2J' WHERE id = $1`, [
      id,
    ]);
    const report = await auditOf(stack, 'sessions', 'agents');
    const renamed = [...log.values()].find(
      ({ type, stream }) => type === 'SessionRenamed' && stream === `rollcall.session-${id}`,
    );
    expect(report).toMatchObject({
      state: 'different',
      differences: [
        {
          projection: 'sessions',
          key: { id },
          field: 'title',
          live: 'planted\u001b[2J',
          expected: 'reviewer:renamed 1',
          event: {
            id: renamed?.id,
            type: 'SessionRenamed',
            stream: renamed?.stream,
            revision: renamed?.revision,
            position: renamed?.position,
            occurred_at: renamed?.metadata['occurred_at'],
            recorded_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
            actor: 'anonymous',
          },
        },
      ],
    });
    const { code, output } = await rollcallAudit(stack, 'sessions');
    expect(code).toBe(1);
    for (const said of [
      `sessions  id=${id}`,
      'title',
      String.raw`live      "planted\u001b[2J"`,
      'expected  "reviewer:renamed 1"',
      `SessionRenamed, revision ${renamed?.revision ?? ''} of rollcall.session-${id}, position ${renamed?.position ?? ''}`,
      'by anonymous',
      'Different: one difference in 51 rows.',
    ])
      expect(output).toContain(said);
    expect(output).not.toContain('\u001b');
    expect((await rollcallAudit(stack, 'agents')).code).toBe(0);
    await client.query(`UPDATE ${schema}.sessions SET title = 'reviewer:renamed 1' WHERE id = $1`, [id]);
    expect((await rollcallAudit(stack, 'sessions')).code).toBe(0);
  });
});

describe('a value changed in every column, a row removed and a row invented in every table', () => {
  let plants: Plant[];
  let report: AuditBody;

  beforeAll(async () => {
    plants = await plantEverything();
    report = await auditOf(stack);
  });

  it('are all found, and nothing else is', () => {
    expect(report.state).toBe('different');
    expect(report.differences.map(nameOf).sort()).toEqual(plants.map(plantName).sort());
  });

  it('each field with the event that last set it', () => {
    const told = report.differences.filter(({ field }) => field !== null);
    expect(told.length).toBe(plants.filter(({ kind }) => kind === 'field').length);
    expect(told.map(settingOf)).toEqual(told.map(expectedSetting));
  });

  it('each removed row with the event that last wrote it, and invented ones with none', () => {
    const rows = report.differences.filter(({ field }) => field === null);
    const positionIn = (row: unknown): string => (row as Record<string, string>)['position'] ?? '';
    expect(rows.map(({ projection, event }) => [projection, event?.['position'] ?? null])).toEqual(
      rows.map(({ projection, expected }) => [projection, expected === null ? null : positionIn(expected)]),
    );
  });

  it('of one session alone when only that is asked for', async () => {
    const [, , , , , id = ''] = ended;
    const own = plants.filter(({ table, key, kind }) => {
      const subject =
        table.endsWith('sessions') || table === 'child_session_summary' ? key['id'] : key['session_id'];
      return subject === id && kind !== 'invented';
    });
    expect(own.length).toBeGreaterThan(2);
    const one = await auditOf(stack, '--session', id);
    expect(one.differences.map(nameOf).sort()).toEqual(own.map(plantName).sort());
  });
});

it('a row that an event has taken away is named with that event', async () => {
  const [, , , , , , , id = ''] = ended;
  await client.query(
    `INSERT INTO ${schema}.session_rollups (ancestor_id, session_id, pending, busy, position) VALUES ($1, $2, 0, 1, 5)`,
    [root.id, id],
  );
  const { differences } = await auditOf(stack, 'session-rollups', '--session', id);
  const failed = [...log.values()].find(
    ({ type, stream, data }) =>
      type === 'SessionStatusChanged' && stream.endsWith(id) && data['status'] === 'failed',
  );
  expect(differences).toMatchObject([
    { key: { ancestor_id: root.id, session_id: id }, field: null, expected: null, event: { id: failed?.id } },
  ]);
});
