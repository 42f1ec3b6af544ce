import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import {
  type EventStoreProcess,
  startEventStore,
} from '../../../test/support/process/event-store-process.js';
import { tempDirectory } from '../../../test/support/run/run-directory.js';
import { SystemClock } from '../../clock/clock.js';
import { FaultPoints, type FaultPoint } from '../../fault-points/fault-points.js';
import { SessionStore } from '../../sessions/aggregate.js';
import { decideAppendItem } from '../../sessions/domain/decide/append-item.js';
import { decideSpawnRoot } from '../../sessions/domain/decide/spawn.js';
import { createEventRegistry } from '../catalogue.js';
import { EventLog } from '../event-log.js';
import type { CommandKey } from '../recorded-event.js';
import type { CommandContext } from './command-context.js';

/** Two nodes on one log, one of which is made to write exactly before an append of the other. */
const directory = tempDirectory('queue');
let process: EventStoreProcess;
let log: EventLog;

beforeAll(async () => {
  process = await startEventStore(directory);
  log = new EventLog(process.url);
});

afterAll(async () => {
  await log.close();
  await process.end('SIGTERM');
  rmSync(directory, { recursive: true, force: true });
});

class Interruption extends FaultPoints {
  /** Runs once, before the append that has passed `appends` others. */
  meanwhile: { appends: number; act: () => Promise<unknown> } | null = null;

  override async pass(point: FaultPoint): Promise<void> {
    if (point !== 'before-append' || this.meanwhile === null) return;
    if (this.meanwhile.appends > 0) {
      this.meanwhile.appends -= 1;
      return;
    }
    const { act } = this.meanwhile;
    this.meanwhile = null;
    await act();
  }
}

function node(faults = new FaultPoints()): SessionStore {
  return new SessionStore({
    log,
    registry: createEventRegistry(),
    clock: new SystemClock(),
    faults,
    snapshots: { load: async () => null, save: async () => undefined },
    checkpoint: () => -1n,
    isParked: () => false,
  });
}

function contextOf(keys: readonly CommandKey[] = []): CommandContext {
  const id = randomUUID();
  return {
    actor: 'anonymous',
    correlationId: id,
    causationId: id,
    keys,
    lookedUpAt: 1_000_000n,
    seed: null,
    status: 202,
  };
}

async function spawned(store: SessionStore): Promise<string> {
  const sessionId = `conv_${randomUUID().replaceAll('-', '')}`;
  const request = {
    sessionId,
    owner: null,
    agentId: null,
    agentName: null,
    title: null,
    tool: null,
    sessionName: null,
  };
  const stream = `rollcall.session-${sessionId}`;
  await store.run(stream, {
    context: contextOf(),
    record: () => ({}),
    decide: (state) => decideSpawnRoot(state, { ...request, labels: {} }),
  });
  return stream;
}

function append(store: SessionStore, stream: string, itemId: string, keys: readonly CommandKey[] = []) {
  const item = { itemId, responseId: 'resp_1', type: 'message', payload: { text: itemId }, createdBy: null };
  return store.run<{ item_id: string }>(stream, {
    context: contextOf(keys),
    record: (result) => result,
    decide: (state) => decideAppendItem(state, item),
  });
}

async function itemsIn(stream: string): Promise<unknown[]> {
  const registry = createEventRegistry();
  const found: unknown[] = [];
  for await (const raw of log.read(stream)) {
    const { event } = registry.decode(raw);
    if (event.type === 'ItemAppended') found.push(Reflect.get(event.data, 'item_id'));
  }
  return found;
}

it('commands that wait together with the twin of what another node has just written are not lost with it', async () => {
  const faults = new Interruption();
  const [here, there] = [node(faults), node()];
  const stream = await spawned(here);
  const twin: CommandKey = { key: randomUUID(), hash: 'same' };
  faults.meanwhile = { appends: 1, act: () => append(there, stream, 'shared', [twin]) };
  const outcomes = await Promise.all([
    append(here, stream, 'first'),
    append(here, stream, 'second'),
    append(here, stream, 'third'),
    append(here, stream, 'shared', [twin]),
  ]);
  expect(outcomes.map(({ kind }) => kind)).toEqual(['done', 'done', 'done', 'replayed']);
  expect(await itemsIn(stream)).toEqual(['first', 'shared', 'second', 'third']);
});

it('a twin alone is one with what another node has just written: the log knows its ids', async () => {
  const faults = new Interruption();
  const [here, there] = [node(faults), node()];
  const stream = await spawned(here);
  const twin: CommandKey = { key: randomUUID(), hash: 'same' };
  faults.meanwhile = { appends: 0, act: () => append(there, stream, 'shared', [twin]) };
  expect(await append(here, stream, 'shared', [twin])).toMatchObject({ result: { item_id: 'shared' } });
  expect(await itemsIn(stream)).toEqual(['shared']);
});

it('a command that changes nothing names what it rests on, also when that was written beside it', async () => {
  const here = node();
  const stream = await spawned(here);
  const nothing = () =>
    here.run(stream, {
      context: contextOf(),
      record: () => ({}),
      decide: () => ({ events: [], result: null }),
    });
  const [first, written, beside] = await Promise.all([
    append(here, stream, 'first'),
    append(here, stream, 'second'),
    nothing(),
  ]);
  if (written.kind !== 'done') throw new Error(`it was ${written.kind}`);
  expect(first).not.toMatchObject({ position: null });
  expect(beside).toMatchObject({ kind: 'done', position: written.position });
  expect(await nothing()).toMatchObject({ kind: 'done', position: written.position });
});

it('what another node has written is decided upon, not overwritten', async () => {
  const faults = new Interruption();
  const [here, there] = [node(faults), node()];
  const stream = await spawned(here);
  faults.meanwhile = { appends: 0, act: () => append(there, stream, 'theirs') };
  expect(await append(here, stream, 'ours')).toMatchObject({ kind: 'done' });
  expect(await itemsIn(stream)).toEqual(['theirs', 'ours']);
});

it('a decision that throws fails its own command, and none of those that wait beside it', async () => {
  const here = node();
  const stream = await spawned(here);
  const thrown = () =>
    here.run(stream, {
      context: contextOf(),
      record: () => ({}),
      decide: () => {
        throw new RangeError('too deep');
      },
    });
  const outcomes = await Promise.allSettled([
    append(here, stream, 'first'),
    append(here, stream, 'second'),
    thrown(),
    append(here, stream, 'third'),
  ]);
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
  expect(outcomes[2]).toMatchObject({ reason: { message: 'too deep' } });
  await expect(thrown()).rejects.toThrow('too deep');
  expect(await itemsIn(stream)).toEqual(['first', 'second', 'third']);
});
