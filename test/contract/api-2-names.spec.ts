import { describe, expect, it } from '@jest/globals';
import type { Answer } from '../support/http.js';
import { type Roll, type SessionBody, roll } from '../support/roll.js';
import { stack } from '../support/stack.js';
import { unique } from '../support/unique.js';

/** Design 13.4 and 13.6: (parent, title) is unique among open children, under any race and on any node. */
const on = roll(stack().a);
const hers = roll(stack().b, { user: `${unique('alice')}@example.test` });

const spawn = (through: Roll, parent: SessionBody, title: string) =>
  through.api.post<SessionBody>('/v1/sessions', { parent_session_id: parent.id, title });

const retitle = (through: Roll, id: string, title: string | null) =>
  through.api.patch<SessionBody>(`/v1/sessions/${id}`, { title });

const taken = { error: { code: 'already_exists', message: expect.stringContaining('coder:one') } };
const statuses = (answers: readonly Answer<unknown>[]) => answers.map(({ status }) => status).sort();
const times = (count: number, value: number) => Array.from({ length: count }, () => value);

/** Whether a new child may take the title: what the parent's own book of names says. */
async function isFree(parent: SessionBody, title: string): Promise<boolean> {
  const probe = await spawn(on, parent, title);
  if (probe.status === 201) await on.close(probe.body.id);
  return probe.status === 201;
}

describe('creating', () => {
  it('a second open child of a title is 409', async () => {
    const parent = await on.root();
    await on.child(parent, { title: 'coder:one' });
    const twin = await spawn(on, parent, 'coder:one');
    expect([twin.status, twin.body]).toEqual([409, taken]);
    expect(await on.children(parent.id)).toHaveLength(1);
  });

  it('20 at the same time is exactly one 201', async () => {
    const parent = await on.root();
    const answers = await Promise.all(Array.from({ length: 20 }, () => spawn(on, parent, 'coder:one')));
    expect(statuses(answers)).toEqual([201, ...times(19, 409)]);
    expect(await on.children(parent.id)).toHaveLength(1);
  });

  it('20 at the same time on two nodes is exactly one 201', async () => {
    const parent = await hers.root();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => spawn(index % 2 === 0 ? on : hers, parent, 'coder:one')),
    );
    expect(statuses(answers)).toEqual([201, ...times(19, 409)]);
    expect(await hers.children(parent.id)).toHaveLength(1);
  });

  it('20 of different titles at the same time is 20 children', async () => {
    const parent = await hers.root();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => spawn(index % 2 === 0 ? on : hers, parent, `coder:${index}`)),
    );
    expect(statuses(answers)).toEqual(times(20, 201));
    expect((await on.children(parent.id, '?limit=100')).length).toBe(20);
  });

  it('the same title under another parent is free', async () => {
    const [one, other] = await Promise.all([on.root(), on.root()]);
    await on.child(one, { title: 'coder:one' });
    expect((await spawn(on, other, 'coder:one')).status).toBe(201);
  });

  it.each([null, ''])('children titled %j hold no name', async (title) => {
    const parent = await on.root();
    await on.child(parent, { title });
    await on.child(parent, { title });
    expect(await on.children(parent.id)).toMatchObject([{ title }, { title }]);
  });

  it('names differ by every byte', async () => {
    const parent = await on.root();
    const titles = ['coder:one', 'Coder:one', 'coder:one ', ' coder:one', 'coder:ｏne', 'e\u0301', '\u00e9'];
    for (const title of titles)
      expect([title, (await spawn(on, parent, title)).status]).toEqual([title, 201]);
  });

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])(
    '%s is a name like others',
    async (title) => {
      const parent = await on.root();
      expect((await spawn(on, parent, title)).status).toBe(201);
      expect((await spawn(on, parent, title)).status).toBe(409);
    },
  );
});

describe('closing', () => {
  it('frees the name', async () => {
    const parent = await on.root();
    const first = await on.child(parent, { title: 'coder:one' });
    await on.close(first.id);
    const second = await spawn(on, parent, 'coder:one');
    expect(second.status).toBe(201);
    expect((await on.children(parent.id)).map(({ id, title }) => [id, title])).toEqual([
      [second.body.id, 'coder:one'],
      [first.id, 'coder:one'],
    ]);
    expect((await spawn(on, parent, 'coder:one')).status).toBe(409);
  });

  it('on one node frees the name for the other at once', async () => {
    const parent = await hers.root();
    for (let round = 0; round < 6; round += 1) {
      const [closer, spawner] = round % 2 === 0 ? [on, hers] : [hers, on];
      const child = await spawn(closer, parent, 'coder:one');
      expect(child.status).toBe(201);
      await closer.close(child.body.id);
      const next = await spawn(spawner, parent, 'coder:one');
      expect(next.status).toBe(201);
      await spawner.close(next.body.id);
    }
  });

  it('and creating in turns never leaves two open', async () => {
    const parent = await hers.root();
    const first = await spawn(hers, parent, 'coder:one');
    const race = await Promise.all([
      on.close(first.body.id).then(() => null),
      ...Array.from({ length: 8 }, (_, index) => spawn(index % 2 === 0 ? on : hers, parent, 'coder:one')),
    ]);
    const made = race.filter((answer) => answer?.status === 201).length;
    expect(made).toBeLessThanOrEqual(1);
    const open = (await hers.children(parent.id)).filter((row) => row.labels['omnigent.closed'] !== 'true');
    expect(open).toHaveLength(made);
  });
});

describe('renaming', () => {
  it('to a name that is taken is 409 and changes nothing', async () => {
    const parent = await on.root();
    await on.child(parent, { title: 'coder:one' });
    const other = await on.child(parent, { title: 'coder:other' });
    const answer = await retitle(on, other.id, 'coder:one');
    expect([answer.status, answer.body]).toEqual([409, taken]);
    expect(await on.row(other)).toMatchObject({ title: 'coder:other' });
    expect(await isFree(parent, 'coder:other')).toBe(false);
  });

  it('takes the new name and frees the old one', async () => {
    const parent = await on.root();
    const child = await on.child(parent, { title: 'coder:one' });
    await on.rename(child.id, 'writer:two');
    expect(await on.row(child)).toMatchObject({ title: 'writer:two', tool: 'writer', session_name: 'two' });
    expect(await isFree(parent, 'writer:two')).toBe(false);
    expect(await isFree(parent, 'coder:one')).toBe(true);
  });

  it('to its own name is nothing', async () => {
    const parent = await on.root();
    const child = await on.child(parent, { title: 'coder:one' });
    const before = await on.snapshot(child.id);
    expect((await retitle(on, child.id, 'coder:one')).status).toBe(200);
    expect(await on.snapshot(child.id)).toEqual(before);
  });

  it('to null gives the name away', async () => {
    const parent = await on.root();
    const child = await on.child(parent, { title: 'coder:one' });
    await on.rename(child.id, null);
    expect(await on.row(child)).toMatchObject({ title: null, tool: null, session_name: null });
    expect(await isFree(parent, 'coder:one')).toBe(true);
  });

  it('ten children to one name at the same time is exactly one 200', async () => {
    const parent = await hers.root();
    const children = await Promise.all(
      Array.from({ length: 10 }, (_, index) => hers.child(parent, { title: `coder:${index}` })),
    );
    const answers = await Promise.all(
      children.map(({ id }, index) => retitle(index % 2 === 0 ? on : hers, id, 'coder:one!')),
    );
    expect(statuses(answers)).toEqual([200, ...times(9, 409)]);
    const titles = (await hers.children(parent.id)).map(({ title }) => title);
    expect(titles.filter((title) => title === 'coder:one!')).toHaveLength(1);
  });

  it('back, on a node that has not seen the first renaming, takes the name back', async () => {
    const parent = await hers.root();
    const child = await hers.child(parent, { title: 'coder:one' });
    await on.rename(child.id, 'coder:two');
    await hers.rename(child.id, 'coder:one');
    expect(await isFree(parent, 'coder:one')).toBe(false);
    expect(await isFree(parent, 'coder:two')).toBe(true);
  });

  it('one child to two names at the same time leaves it the name that it shows', async () => {
    const parent = await hers.root();
    const child = await hers.child(parent, { title: 'coder:start' });
    for (let round = 0; round < 10; round += 1) {
      const names = [`coder:a${round}`, `coder:b${round}`] as const;
      await Promise.all([retitle(on, child.id, names[0]), retitle(hers, child.id, names[1])]);
      const { title } = await hers.snapshot(child.id);
      const free = await Promise.all(names.map((name) => isFree(parent, name)));
      expect([title, free]).toEqual([title, names.map((name) => name !== title)]);
    }
  });

  it('a root takes any title', async () => {
    const [one, other] = [await on.root({ title: 'same' }), await on.root({ title: 'x' })];
    expect((await on.rename(other.id, 'same')).title).toBe(one.title);
  });
});

describe('a legacy tombstone', () => {
  it('of the very child closes it and frees its name', async () => {
    const parent = await on.root();
    const child = await on.child(parent, { title: 'coder:one' });
    const closed = await on.rename(child.id, `coder:one:closed:${child.id}`);
    expect(closed).toMatchObject({ title: 'coder:one', closed: true });
    expect((await spawn(on, parent, 'coder:one')).status).toBe(201);
  });

  it('may spell its id as it likes', async () => {
    const parent = await on.root();
    const child = await on.child(parent, { title: 'coder:one' });
    const bare = child.id.slice('conv_'.length);
    expect(await on.rename(child.id, `coder:one:closed:${bare}`)).toMatchObject({ closed: true });
  });

  it.each([
    ['of another session', (_: string, sibling: string) => `coder:one:closed:${sibling}`],
    ['without an id', () => 'coder:one:closed:'],
    ['with more behind it', (own: string) => `coder:one:closed:${own} again`],
    ['in the middle', () => 'fix:closed:doors'],
  ])('%s is just a title', async (_, titled) => {
    const parent = await on.root();
    const child = await on.child(parent, { title: 'coder:one' });
    const sibling = await on.child(parent, { title: 'coder:sibling' });
    const title = titled(child.id, sibling.id);
    const renamed = await on.rename(child.id, title);
    expect(renamed).toMatchObject({ title, closed: false, labels: {} });
    expect(await on.row(child)).toMatchObject({ title, labels: {} });
  });
});
