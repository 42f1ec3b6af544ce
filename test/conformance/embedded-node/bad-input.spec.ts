import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { readdirSync, readlinkSync, rmSync } from 'node:fs';
import { connect } from 'node:http2';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { jsonEvent } from '@eventstore/db-client';
import type { EmbeddedNodeProcess } from '../event-store-under-test.js';
import { connectTo, exited, spawnEmbeddedNode, temporaryDirectory } from '../event-store-under-test.js';
import { until } from '../recorded-subscription.js';
import { newStream, rejection, revisionsIn, sampleEvents } from '../sample-events.js';
import { RawClient, STREAMS, field, grpcFrame, onMessage, rawSocket, readAnswer } from './raw-client.js';

const OK = 0;
const INVALID_ARGUMENT = 3;
const RESOURCE_EXHAUSTED = 8;
const FAILED_PRECONDITION = 9;
const UNIMPLEMENTED = 12;

let dir: string;
let node: EmbeddedNodeProcess;
let client: EventStoreDBClient;
let raw: RawClient;

beforeAll(async () => {
  dir = temporaryDirectory();
  node = await spawnEmbeddedNode(dir);
  client = connectTo(node.url);
});
beforeEach(() => {
  raw = new RawClient(node.port);
});
/** Whatever a test sent, the node lives and serves. */
afterEach(async () => {
  raw.close();
  const stream = newStream();
  await client.appendToStream(stream, sampleEvents(1));
  expect(await revisionsIn(client.readStream(stream))).toEqual([0n]);
});
afterAll(async () => {
  await client.dispose();
  node.child.kill('SIGTERM');
  await exited(node.child);
  rmSync(dir, { recursive: true, force: true });
});

const identifier = (name: Buffer | string) => field(1, field(3, name));
const anyRevision = field(4, '');
const appendOptions = (name: Buffer | string) =>
  grpcFrame(field(1, Buffer.concat([identifier(name), anyRevision])));
const metadataEntry = (key: string, value: string) =>
  field(2, Buffer.concat([field(1, key), field(2, value)]));
const typed = Buffer.concat([metadataEntry('type', 'T'), metadataEntry('content-type', 'application/json')]);
const proposal = (...parts: Buffer[]) => grpcFrame(field(2, Buffer.concat(parts)));
const someId = field(1, field(2, '7b5f3e62-3d0f-4f3d-9a52-0c6f0f6d5d11'));

describe('bytes that are no protobuf', () => {
  it.each(['Append', 'BatchAppend', 'Read', 'Delete', 'Tombstone'])(
    'get a status from %s',
    async (method) => {
      const answer = await raw.call(
        `${STREAMS}/${method}`,
        grpcFrame(Buffer.from([0xff, 0xff, 0xff, 0xff, 0x0f])),
      );
      expect(answer.status).toBe(INVALID_ARGUMENT);
    },
  );

  it('get a status each, two hundred times at random', async () => {
    for (let round = 0; round < 200; round += 1) {
      const method = ['Append', 'BatchAppend', 'Read', 'Delete', 'Tombstone'][round % 5];
      const answer = await raw.call(`${STREAMS}/${method}`, grpcFrame(randomBytes(1 + (round % 60))));
      expect(answer.status).toEqual(expect.any(Number));
    }
  });

  it('get a status when a length points behind the end', async () => {
    const answer = await raw.call(`${STREAMS}/Read`, grpcFrame(Buffer.from([0x0a, 0x7f, 0x01])));
    expect(answer.status).toBe(INVALID_ARGUMENT);
  });
});

describe('frames', () => {
  it('cut in the middle get a status', async () => {
    const answer = await raw.call(`${STREAMS}/Append`, appendOptions(newStream()).subarray(0, 9));
    expect(answer.status).toBe(INVALID_ARGUMENT);
  });

  it('that never come get a status', async () => {
    expect((await raw.call(`${STREAMS}/Read`, Buffer.alloc(0))).status).toBe(INVALID_ARGUMENT);
    expect((await raw.call(`${STREAMS}/Append`, Buffer.alloc(0))).status).toBe(INVALID_ARGUMENT);
  });

  it('that announce four gigabytes are refused before they are sent', async () => {
    const stream = raw.open(`${STREAMS}/Append`);
    const answer = readAnswer(stream);
    stream.write(grpcFrame(Buffer.alloc(0), 0xffffffff));
    expect((await answer).status).toBe(RESOURCE_EXHAUSTED);
  });

  it('marked as compressed are refused', async () => {
    const compressed = appendOptions(newStream());
    compressed[0] = 1;
    expect((await raw.call(`${STREAMS}/Append`, compressed)).status).toBe(UNIMPLEMENTED);
  });

  it('may come byte by byte', async () => {
    const stream = raw.open(`${STREAMS}/Append`);
    const answer = readAnswer(stream);
    const bytes = Buffer.concat([appendOptions(newStream()), proposal(someId, typed)]);
    for (const byte of bytes) stream.write(Buffer.of(byte));
    stream.end();
    expect((await answer).status).toBe(OK);
  });
});

describe('an append', () => {
  const append = (...messages: Buffer[]) => raw.call(`${STREAMS}/Append`, Buffer.concat(messages));

  it('without options is refused', async () => {
    expect((await append(proposal(someId, typed))).status).toBe(INVALID_ARGUMENT);
  });

  it('with an empty stream name is refused', async () => {
    expect((await append(appendOptions(''))).status).toBe(INVALID_ARGUMENT);
  });

  it('of an event without an id is refused', async () => {
    expect((await append(appendOptions(newStream()), proposal(typed))).status).toBe(INVALID_ARGUMENT);
  });

  it.each(['', 'no-uuid', '00000000-0000-0000-0000-000000000000'])(
    'of an event with id %j is refused',
    async (id) => {
      const answer = await append(appendOptions(newStream()), proposal(field(1, field(2, id)), typed));
      expect(answer.status).toBe(INVALID_ARGUMENT);
    },
  );

  it('of an event without type or content type is refused', async () => {
    const answer = await append(appendOptions(newStream()), proposal(someId));
    expect(answer.status).toBe(INVALID_ARGUMENT);
  });

  it('to a name of sixteen thousand bytes succeeds, to a larger one than the limit it is refused', async () => {
    expect((await append(appendOptions(Buffer.alloc(16_000, 0x61)), proposal(someId, typed))).status).toBe(
      OK,
    );
    const huge = 'x'.repeat(200_000);
    expect(await rejection(client.appendToStream(huge, sampleEvents(1)))).toBeInstanceOf(Error);
  });

  it.each(['a', 'é'])(
    'refused for a long name of %s gets a status and keeps the connection',
    async (letter) => {
      const options = grpcFrame(
        field(1, Buffer.concat([identifier(letter.repeat(15_000 / Buffer.byteLength(letter))), anyRevision])),
      );
      await raw.call(`${STREAMS}/Tombstone`, options);
      expect((await raw.call(`${STREAMS}/Tombstone`, options)).status).toBe(FAILED_PRECONDITION);
      expect((await raw.call(`${STREAMS}/Delete`, options)).status).toBe(FAILED_PRECONDITION);
    },
  );

  it('to a name that is no UTF-8 keeps its bytes', async () => {
    const answer = await append(appendOptions(Buffer.of(0xff, 0xfe, 0x00, 0xc3)), proposal(someId, typed));
    expect(answer.status).toBe(OK);
  });

  it('at a revision of 2^64 - 1 is refused', async () => {
    const revision = Buffer.concat([Buffer.of(0x10), Buffer.alloc(9, 0xff), Buffer.of(0x01)]);
    const options = grpcFrame(field(1, Buffer.concat([identifier(newStream()), revision])));
    expect((await append(options, proposal(someId, typed))).status).toBe(INVALID_ARGUMENT);
  });
});

describe('a batch append', () => {
  it('whose chunks belong to no batch gets no answer and harms none', async () => {
    const stream = raw.open(`${STREAMS}/BatchAppend`);
    const answer = readAnswer(stream);
    const correlation = field(1, field(2, '7b5f3e62-3d0f-4f3d-9a52-0c6f0f6d5d12'));
    stream.end(grpcFrame(Buffer.concat([correlation, Buffer.of(0x20, 0x01)])));
    expect(await answer).toMatchObject({ status: OK, body: Buffer.alloc(0) });
  });

  it('whose chunks are padded is refused before it fills the memory', async () => {
    const stream = raw.open(`${STREAMS}/BatchAppend`);
    const answer = readAnswer(stream);
    const chunk = (index: number) => {
      const options = Buffer.concat([identifier(newStream()), anyRevision]);
      const event = Buffer.concat([someId, typed]);
      const padding = Buffer.concat([Buffer.of(0x7a, 0x80, 0x80, 0x80, 0x04), Buffer.alloc(8 * 1024 * 1024)]);
      return grpcFrame(
        Buffer.concat([field(1, field(2, `batch-${index}`)), field(2, options), field(3, event), padding]),
      );
    };
    for (let index = 0; index < 9; index += 1) stream.write(chunk(index));
    stream.end();
    expect((await answer).body.toString('latin1')).toContain('Too many unfinished batches.');
  });

  it('whose end does not come within two seconds, or by its own deadline, is answered Timeout, and the stream goes on', async () => {
    const stream = raw.open(`${STREAMS}/BatchAppend`);
    const [never, soon] = [newStream(), newStream()];
    const begun = performance.now();
    const times = new Map<string, number>();
    onMessage(stream, (message) => {
      const text = message.toString('latin1');
      expect(text).toContain('Timeout');
      times.set(text.includes(never) ? 'never' : 'soon', performance.now() - begun);
    });
    const begin = (index: number, name: string, ...options: Buffer[]): void => {
      const correlation = field(1, field(2, `7b5f3e62-3d0f-4f3d-9a52-0c6f0f6d5d2${index}`));
      const target = field(2, Buffer.concat([identifier(name), anyRevision, ...options]));
      stream.write(grpcFrame(Buffer.concat([correlation, target, field(3, Buffer.concat([someId, typed]))])));
    };
    begin(1, never);
    // Field 7 is a duration, whose field 2 counts nanoseconds: a tenth of a second.
    begin(2, soon, field(7, Buffer.of(0x10, 0x80, 0xc2, 0xd7, 0x2f)));
    await until('both to be answered', () => times.size === 2);
    expect(times.get('soon')).toBeGreaterThan(50);
    expect(times.get('never')).toBeGreaterThan(1_900);
    expect(times.get('soon')).toBeLessThan(times.get('never') ?? 0);
    for (const name of [never, soon])
      expect(await rejection(revisionsIn(client.readStream(name)))).toBeTruthy();
    stream.close();
  });

  it('over the size limit is refused in the stream, which goes on', async () => {
    const large = jsonEvent({ type: 'Large', data: 'x'.repeat(1_100_000) });
    expect(await rejection(client.appendToStream(newStream(), large))).toMatchObject({
      type: 'maximum-append-size-exceeded',
      maxAppendSize: 1_048_576,
    });
  });
});

describe('a read', () => {
  it('without a count or a subscription is refused', async () => {
    const answer = await raw.call(`${STREAMS}/Read`, grpcFrame(field(1, field(1, identifier(newStream())))));
    expect(answer.status).toBe(INVALID_ARGUMENT);
  });

  it('from a position that the log never gave out is refused', async () => {
    const read = async () => {
      for await (const _event of client.readAll({ fromPosition: { commit: 65n, prepare: 65n } })) break;
    };
    expect(await rejection(read())).toMatchObject({ code: INVALID_ARGUMENT });
  });

  it('from far behind the end is empty', async () => {
    const far = { commit: 2n ** 62n, prepare: 2n ** 62n };
    expect(await revisionsIn(client.readAll({ fromPosition: far }))).toEqual([]);
  });
});

describe('methods and paths', () => {
  it.each([
    '/event_store.client.persistent_subscriptions.PersistentSubscriptions/Create',
    '/event_store.client.projections.Projections/Create',
    '/event_store.client.users.Users/Create',
    `${STREAMS}/Nothing`,
    '/',
  ])('that are not there answer UNIMPLEMENTED with a sentence: %s', async (path) => {
    const answer = await raw.call(path, grpcFrame(Buffer.alloc(0)));
    expect(answer.status).toBe(UNIMPLEMENTED);
    expect(answer.message).toMatch(/^[A-Z].+\.$/);
  });

  it('asked for as something else than gRPC get an HTTP status', async () => {
    const answer = await raw.call(`${STREAMS}/Read`, Buffer.from('{}'), {
      'content-type': 'application/json',
    });
    expect(answer.httpStatus).toBe(415);
  });
});

describe('connections', () => {
  it('that speak HTTP/1 or noise are closed', async () => {
    for (const words of ['GET / HTTP/1.1\r\nHost: x\r\n\r\n', randomBytes(300).toString('latin1')]) {
      const socket = await rawSocket(node.port);
      const closed = new Promise((settle) => socket.once('close', () => settle('closed')));
      socket.on('error', () => undefined).resume();
      socket.write(words, 'latin1');
      expect(await closed).toBe('closed');
    }
  });

  it('cut in the middle of a call leave no socket behind', async () => {
    // Once it was used, the test's own connection counts.
    await raw.call('/', grpcFrame(Buffer.alloc(0)));
    const before = openSockets();
    for (let round = 0; round < 50; round += 1) {
      const cut = new RawClient(node.port);
      const stream = cut.open(`${STREAMS}/Append`);
      const answer = readAnswer(stream);
      stream.write(appendOptions(newStream()).subarray(0, 7));
      if (round === 0) await until('the socket to be open', () => openSockets() > before);
      cut.close();
      expect((await answer).status).toBeUndefined();
    }
    await until('all sockets to be closed', () => openSockets() <= before);
  });

  it('half closed while a call is open end the call', async () => {
    await raw.call('/', grpcFrame(Buffer.alloc(0)));
    const before = openSockets();
    const socket = await rawSocket(node.port);
    const closed = new Promise((settle) => socket.once('close', () => settle('closed')));
    // Not the socket itself: the session would take it over, and its half could not be closed here.
    const session = connect('http://node', { createConnection: () => throughBoth(socket) });
    const subscription = new RawClient(session).open(`${STREAMS}/Read`);
    let received = 0;
    subscription.on('data', (chunk: Buffer) => (received += chunk.length));
    subscription.write(grpcFrame(field(1, Buffer.concat([field(2, field(2, '')), field(6, '')]))));
    await until('the subscription to be open', () => received > 1_000);
    socket.end();
    expect(await closed).toBe('closed');
    await until('its socket to be closed', () => openSockets() <= before);
  });
});

function throughBoth(socket: Socket): Duplex {
  return Duplex.from({ readable: socket, writable: socket });
}
function openSockets(): number {
  const places = readdirSync(`/proc/${node.pid}/fd`).map((name) => `/proc/${node.pid}/fd/${name}`);
  return places.filter((place) => linkOf(place).startsWith('socket:')).length;
}
/** A descriptor may be closed between its listing and the look at it. */
function linkOf(place: string): string {
  try {
    return readlinkSync(place);
  } catch {
    return '';
  }
}
