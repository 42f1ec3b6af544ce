import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { type List, type SessionBody, roll } from '../support/roll.js';
import { stack } from '../support/stack.js';

/** `contract/sessions.md` 1.3 and 1.4, on the three lists: sessions, children, items. */
const on = roll(stack().a);

const KINDS = ['sessions', 'child_sessions', 'items'] as const;
type Kind = (typeof KINDS)[number];
type Row = { readonly id: string };

interface Listed {
  readonly path: string;
  /** Of the rows, oldest first. */
  readonly ids: readonly string[];
  readonly order: 'asc' | 'desc';
}

let lists: Readonly<Record<Kind, Listed>>;
let empty: Readonly<Record<Kind, string>>;

beforeAll(async () => {
  const parent = await on.root();
  const children: string[] = [];
  const items: string[] = [];
  const agent = await on.agent();
  const sessions: string[] = [];
  for (let index = 0; index < 5; index += 1) {
    children.push((await on.child(parent, { title: `worker:${index}` })).id);
    items.push(await on.message(parent.id, 'user', `message ${index}`));
    sessions.push((await on.root({ agent_id: agent.id, title: `${index}` })).id);
  }
  lists = {
    sessions: { path: `/v1/sessions?agent_id=${agent.id}`, ids: sessions, order: 'desc' },
    child_sessions: { path: `/v1/sessions/${parent.id}/child_sessions?`, ids: children, order: 'desc' },
    items: { path: `/v1/sessions/${parent.id}/items?`, ids: items, order: 'asc' },
  };
  const childless = await on.root();
  empty = {
    sessions: `/v1/sessions?agent_id=${(await on.agent()).id}`,
    child_sessions: `/v1/sessions/${childless.id}/child_sessions`,
    items: `/v1/sessions/${childless.id}/items`,
  };
});

const page = async (path: string) => (await on.api.get<List<Row>>(path)).body;
/** All pages, by `next_cursor`; `between` happens after each that has more. */
async function walk(path: string, between?: () => Promise<void>): Promise<List<Row>[]> {
  const pages = [await page(path)];
  for (let last = pages[0]; last?.next_cursor !== undefined; last = pages.at(-1)) {
    if (pages.length > 50) throw new Error('The walk does not end');
    await between?.();
    pages.push(await page(`${path}&after=${last.next_cursor}`));
  }
  return pages;
}

const idsOf = (list: List<Row>) => list.data.map(({ id }) => id);
const emptyPage = { object: 'list', data: [], first_id: null, last_id: null, has_more: false };

describe.each(KINDS)('%s', (kind) => {
  it('an empty page has null ids', async () => {
    expect(await page(empty[kind])).toEqual(emptyPage);
  });

  it('a page says its first and last id', async () => {
    const { path, ids, order } = lists[kind];
    const expected = order === 'asc' ? ids : [...ids].reverse();
    const list = await page(path);
    expect(idsOf(list)).toEqual(expected);
    expect(list).toMatchObject({
      object: 'list',
      first_id: expected[0],
      last_id: expected.at(-1),
      has_more: false,
    });
  });

  it.each(['asc', 'desc'] as const)('pages in order %s hold every row once', async (order) => {
    const { path, ids } = lists[kind];
    const seen: string[] = [];
    let after = '';
    for (;;) {
      const list = await page(`${path}&limit=2&order=${order}${after}`);
      seen.push(...idsOf(list));
      if (!list.has_more) break;
      after = `&after=${list.last_id ?? ''}`;
    }
    expect(seen).toEqual(order === 'asc' ? ids : [...ids].reverse());
  });

  it.each(['asc', 'desc'] as const)(
    'next_cursor leads through every row once, in order %s',
    async (order) => {
      const { path, ids } = lists[kind];
      const pages = await walk(`${path}&limit=2&order=${order}`);
      expect(pages.flatMap(idsOf)).toEqual(order === 'asc' ? ids : [...ids].reverse());
      for (const { has_more, next_cursor } of pages) expect(typeof next_cursor === 'string').toBe(has_more);
    },
  );

  it('next_cursor is taken as before, too', async () => {
    const { path, ids } = lists[kind];
    const { next_cursor = '' } = await page(`${path}&order=asc&limit=3`);
    expect(idsOf(await page(`${path}&order=asc&before=${next_cursor}`))).toEqual(ids.slice(0, 2));
  });

  it('before gives what lies on the other side of the cursor', async () => {
    const { path, ids } = lists[kind];
    expect(idsOf(await page(`${path}&order=asc&before=${ids[2]}`))).toEqual(ids.slice(0, 2));
    expect(idsOf(await page(`${path}&order=desc&before=${ids[2]}`))).toEqual([...ids.slice(3)].reverse());
  });

  it('a cursor is read like an id in a path', async () => {
    const { path, ids } = lists[kind];
    const bare = (ids[1] ?? '').replace(/^[a-z]+_/, '');
    expect(idsOf(await page(`${path}&order=asc&after=${bare}`))).toEqual(ids.slice(2));
  });

  it('a well-formed cursor that nobody knows gives an empty page', async () => {
    const { path } = lists[kind];
    for (const side of ['after', 'before']) {
      expect(await page(`${path}&${side}=${randomUUID()}`)).toEqual(emptyPage);
    }
  });

  it.each([
    'nope',
    '',
    '0',
    'conv_',
    `'; DROP TABLE sessions`,
    '%00',
    'pos_',
    'pos_-1',
    'pos_1_',
    'pos_01',
    'pos_9223372036854775808',
  ])('the malformed cursor %j is 404', async (cursor) => {
    const { path } = lists[kind];
    for (const side of ['after', 'before']) {
      const answer = await on.api.get(`${path}&${side}=${cursor}`);
      expect([side, answer.status]).toEqual([side, 404]);
    }
  });

  it.each(['0', '-1', '1001', '1.5', '1e2', 'x', '', '%20', '0x10', '99999999999999999999'])(
    'limit=%s is 422',
    async (limit) => {
      const answer = await on.api.get(`${lists[kind].path}&limit=${limit}`);
      expect(answer.status).toBe(422);
      expect(answer.body).toMatchObject({ detail: [{ loc: ['query', 'limit'] }] });
    },
  );

  it.each(['1', '1000'])('limit=%s is the edge of what is allowed', async (limit) => {
    expect((await on.api.get(`${lists[kind].path}&limit=${limit}`)).status).toBe(200);
  });

  it.each(['up', 'ASC', '', 'asc;desc'])('order=%s is 422', async (order) => {
    const answer = await on.api.get(`${lists[kind].path}&order=${order}`);
    expect(answer.status).toBe(422);
    expect(answer.body).toMatchObject({ detail: [{ loc: ['query', 'order'] }] });
  });
});

it.each(['sort_by=title', 'sort_by=', 'kind=bogus', 'kind='])('GET /v1/sessions?%s is 422', async (query) => {
  expect((await on.api.get(`/v1/sessions?${query}`)).status).toBe(422);
});

describe('the default limit', () => {
  it('of children and sessions is 20', async () => {
    const agent = await on.agent();
    const parent = await on.root();
    await Promise.all(
      Array.from({ length: 21 }, async () => {
        await on.child(parent);
        await on.root({ agent_id: agent.id });
      }),
    );
    for (const path of [`/v1/sessions/${parent.id}/child_sessions`, `/v1/sessions?agent_id=${agent.id}`]) {
      const list = await page(path);
      expect([list.data.length, list.has_more]).toEqual([20, true]);
    }
  });

  it('of items is 100, oldest first; the snapshot holds the latest 100', async () => {
    const { id } = await on.root();
    const posted = await Promise.all(
      Array.from({ length: 101 }, (_, index) => on.message(id, 'user', `message ${index}`)),
    );
    const list = await page(`/v1/sessions/${id}/items`);
    expect([list.data.length, list.has_more]).toEqual([100, true]);
    const all = idsOf(await page(`/v1/sessions/${id}/items?limit=1000`));
    expect(new Set(all)).toEqual(new Set(posted));
    expect(idsOf(list)).toEqual(all.slice(0, 100));
    const { items } = (await on.snapshot(id)) as SessionBody & { items: readonly Row[] };
    expect(items.map((item) => item.id)).toEqual(all.slice(1));
  });
});

it('sort_by=updated_at puts first what moved last', async () => {
  const agent = await on.agent();
  const first = await on.root({ agent_id: agent.id });
  const second = await on.root({ agent_id: agent.id });
  const listed = async () => idsOf(await page(`/v1/sessions?agent_id=${agent.id}&sort_by=updated_at`));
  expect(await listed()).toEqual([second.id, first.id]);
  await on.message(first.id, 'user', 'hello');
  expect(await listed()).toEqual([first.id, second.id]);
});

describe('under sort_by=updated_at a row that moves may come again, and is never skipped', () => {
  const orders = ['asc', 'desc'] as const;
  const seenOnce = (pages: readonly List<Row>[]) => [...new Set(pages.flatMap(idsOf))].sort();
  let agent: { readonly id: string };
  let ids: string[];

  beforeEach(async () => {
    agent = await on.agent();
    ids = [];
    for (let index = 0; index < 6; index += 1) ids.push((await on.root({ agent_id: agent.id })).id);
  });

  const path = (order: string) =>
    `/v1/sessions?agent_id=${agent.id}&sort_by=updated_at&limit=2&order=${order}`;

  it.each(orders)('in order %s, whichever moves after the first page', async (order) => {
    for (const id of ids) {
      let moved = false;
      const pages = await walk(path(order), async () => {
        if (!moved) await on.message(id, 'user', 'hello');
        moved = true;
      });
      expect(seenOnce(pages)).toEqual([...ids].sort());
    }
  });

  it.each(orders)('in order %s, when one moves after each of five pages', async (order) => {
    let moves = 0;
    const pages = await walk(path(order), async () => {
      moves += 1;
      const id = ids[(moves * 2) % ids.length];
      if (id !== undefined && moves <= 5) await on.message(id, 'user', 'hello');
    });
    expect(seenOnce(pages)).toEqual([...ids].sort());
  });

  it('a row that is the cursor itself may move', async () => {
    for (const order of orders) {
      const first = await page(path(order));
      await on.message(first.last_id ?? '', 'user', 'hello');
      const second = await page(`${path(order)}&after=${first.next_cursor ?? ''}`);
      expect(second.data).toHaveLength(2);
      expect(idsOf(second)).not.toContain(first.last_id);
    }
  });
});

it("sort_by=updated_at does not count the book-keeping of children as the parent's own doing", async () => {
  const agent = await on.agent();
  const parent = await on.root({ agent_id: agent.id });
  const later = await on.root({ agent_id: agent.id });
  const child = await on.child(parent, { title: 'coder:one' });
  await on.rename(child.id, 'coder:two');
  await on.close(child.id);
  const list = await page(`/v1/sessions?agent_id=${agent.id}&sort_by=updated_at`);
  expect(idsOf(list)).toEqual([later.id, parent.id]);
});

it.each([
  ['/v1/sessions?', 'agent_id'],
  ['/v1/sessions?', 'agent_name'],
  [`/v1/sessions/conv_${'0'.repeat(32)}/child_sessions?session_name=x&`, 'tool'],
  [`/v1/sessions/conv_${'0'.repeat(32)}/child_sessions?tool=x&`, 'session_name'],
])('a NUL in the query %s%s is 422', async (path, field) => {
  const answer = await on.api.get(`${path}${field}=a%00b`);
  expect(answer.status).toBe(422);
  expect(answer.body).toMatchObject({ detail: [{ loc: ['query', field] }] });
});

it('a child of another parent is no cursor', async () => {
  const [parent, other] = [await on.root(), await on.root()];
  await on.child(parent);
  const { id } = await on.child(other);
  expect(await page(`/v1/sessions/${parent.id}/child_sessions?after=${id}`)).toEqual(emptyPage);
});

it('tool and session_name together find the open child of exactly that title, one alone is no filter', async () => {
  const parent = await on.root();
  const closed = await on.child(parent, { title: 'coder:fix' });
  await on.close(closed.id);
  const open = await on.child(parent, { title: 'coder:fix' });
  const other = await on.child(parent, { title: 'coder:other' });
  const found = async (query: string) => (await on.children(parent.id, query)).map(({ id }) => id);
  expect(await found('?tool=coder&session_name=fix')).toEqual([open.id]);
  expect(await found('?tool=coder&session_name=nobody')).toEqual([]);
  for (const query of ['?tool=coder', '?session_name=fix', '?tool=coder&session_name=']) {
    expect(await found(query)).toEqual([other.id, open.id, closed.id]);
  }
});
