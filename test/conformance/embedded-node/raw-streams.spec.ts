import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import type { EventStoreDBClient } from '@eventstore/db-client';
import type { EmbeddedNodeProcess } from '../event-store-under-test.js';
import { connectTo, exited, spawnEmbeddedNode, temporaryDirectory } from '../event-store-under-test.js';
import { newStream, recordedIn, sampleEvents } from '../sample-events.js';
import { until } from '../recorded-subscription.js';
import { RawClient, STREAMS, field, grpcFrame, onMessage } from './raw-client.js';

/** What the protocol allows and this client cannot say, other clients say. */
let dir: string;
let node: EmbeddedNodeProcess;
let client: EventStoreDBClient;
let raw: RawClient;

beforeAll(async () => {
  dir = temporaryDirectory();
  node = await spawnEmbeddedNode(dir);
  client = connectTo(node.url);
  raw = new RawClient(node.port);
});
afterAll(async () => {
  raw.close();
  await client.dispose();
  node.child.kill('SIGTERM');
  await exited(node.child);
  rmSync(dir, { recursive: true, force: true });
});

const entry = (key: string, value: string) => field(2, Buffer.concat([field(1, key), field(2, value)]));
const empty = (number: number) => field(number, '');
const varint = (number: number, value: number) => Buffer.of(number * 8, value);

it('data that says JSON and is none comes back to a client as text', async () => {
  const stream = newStream();
  const options = field(1, Buffer.concat([field(1, field(3, stream)), empty(4)]));
  const id = field(1, field(2, randomUUID()));
  const names = [entry('type', 'Broken'), entry('content-type', 'application/json')];
  const proposed = field(2, Buffer.concat([id, ...names, field(4, '{"a":')]));
  const answer = await raw.call(
    `${STREAMS}/Append`,
    Buffer.concat([grpcFrame(options), grpcFrame(proposed)]),
  );
  expect(answer.status).toBe(0);
  const [event] = await recordedIn(client.readStream(stream));
  expect(event).toMatchObject({ type: 'Broken', isJson: true, data: '{"a":' });
});

describe('a filtered read of the whole log', () => {
  const [wanted, other] = [`Wanted-${randomUUID()}`, `Other-${randomUUID()}`];
  const ids: string[] = [];

  beforeAll(async () => {
    for (let round = 0; round < 5; round += 1) {
      const [event] = sampleEvents(1, wanted);
      ids.push(event?.id ?? '');
      await client.appendToStream(newStream(), [...sampleEvents(40, other), ...(event ? [event] : [])]);
    }
  });

  async function read(direction: 'forwards' | 'backwards', count: number): Promise<string[]> {
    const backwards = direction === 'backwards';
    const options = Buffer.concat([
      field(2, empty(backwards ? 3 : 2)),
      varint(3, backwards ? 1 : 0),
      varint(5, count),
      field(7, Buffer.concat([field(2, field(2, wanted)), empty(4)])),
      field(9, empty(2)),
    ]);
    const { body, status } = await raw.call(`${STREAMS}/Read`, grpcFrame(field(1, options)));
    expect(status).toBe(0);
    expect(body.includes(other)).toBe(false);
    const text = body.toString('latin1');
    return ids.filter((id) => text.includes(id)).toSorted((a, b) => text.indexOf(a) - text.indexOf(b));
  }

  it.each(['forwards', 'backwards'] as const)('%s gives what matches, in order', async (direction) => {
    expect(await read(direction, 100)).toEqual(direction === 'forwards' ? ids : ids.toReversed());
  });

  it('counts what matches, not what it passes over', async () => {
    expect(await read('forwards', 2)).toEqual(ids.slice(0, 2));
    expect(await read('backwards', 2)).toEqual(ids.toReversed().slice(0, 2));
  });
});

/** Field numbers of what a subscription is sent. */
const [EVENT, CHECKPOINT, CAUGHT_UP] = [1, 3, 8];

describe('checkpoints', () => {
  async function untilCaughtUp(filter: Buffer): Promise<number[]> {
    const options = Buffer.concat([field(2, empty(2)), empty(6), filter, field(9, empty(2))]);
    const stream = raw.open(`${STREAMS}/Read`);
    const fields: number[] = [];
    onMessage(stream, (message) => fields.push((message[0] ?? 0) >> 3));
    stream.end(grpcFrame(field(1, options)));
    await until('the end of the log', () => fields.includes(CAUGHT_UP));
    stream.close();
    return fields;
  }

  it('come to a subscription with a filter, and to none without', async () => {
    await client.appendToStream(newStream(), sampleEvents(100));
    const everything = field(7, Buffer.concat([field(2, field(2, '')), varint(3, 32), varint(5, 1)]));
    expect(await untilCaughtUp(everything)).toContain(CHECKPOINT);
    const plain = await untilCaughtUp(Buffer.alloc(0));
    expect(plain).toContain(EVENT);
    expect(plain).not.toContain(CHECKPOINT);
  });
});
