import { describe, expect, it } from '@jest/globals';
import { createRequire } from 'node:module';
import type { ResolvedEvent } from '@eventstore/db-client';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import fc from 'fast-check';
import { toRawEvent } from './raw-event.js';
import { decodeReadFrame } from './read-frames.js';

const { ReadResp } = streams;
const load = createRequire(import.meta.url);
const { convertGrpcEvent } = load('@eventstore/db-client/dist/utils/convertGrpcEvent.js') as {
  convertGrpcEvent: (event: unknown) => ResolvedEvent;
};

interface Recorded {
  readonly id: string;
  readonly stream: string;
  readonly type: string;
  readonly revision: bigint;
  readonly position: bigint;
  readonly created: number;
  readonly isJson: boolean;
  readonly data: Uint8Array;
  readonly metadata: Uint8Array;
}

function messageOf(event: Recorded): streams.ReadResp {
  const id = new shared.UUID();
  id.setString(event.id);
  const stream = new shared.StreamIdentifier();
  stream.setStreamName(Buffer.from(event.stream).toString('base64'));
  const recorded = new ReadResp.ReadEvent.RecordedEvent();
  recorded.setId(id);
  recorded.setStreamIdentifier(stream);
  recorded.setStreamRevision(event.revision.toString());
  recorded.setPreparePosition(event.position.toString());
  recorded.setCommitPosition(event.position.toString());
  recorded.getMetadataMap().set('type', event.type);
  recorded.getMetadataMap().set('created', `${BigInt(event.created) * 10_000n}`);
  recorded
    .getMetadataMap()
    .set('content-type', event.isJson ? 'application/json' : 'application/octet-stream');
  recorded.setCustomMetadata(event.metadata);
  recorded.setData(event.data);
  const read = new ReadResp.ReadEvent();
  read.setEvent(recorded);
  read.setCommitPosition(event.position.toString());
  const message = new ReadResp();
  message.setEvent(read);
  return message;
}

const bytes = (message: streams.ReadResp): Buffer => Buffer.from(message.serializeBinary());
const json = fc.jsonValue().map((value) => Buffer.from(JSON.stringify(value)));
const LAST = 2n ** 63n - 1n;
const whole = fc.oneof(fc.bigInt({ min: 0n, max: LAST }), fc.constantFrom(LAST, 2n ** 53n, 2n ** 53n + 1n));
const recorded: fc.Arbitrary<Recorded> = fc.record({
  id: fc.uuid(),
  stream: fc.string({ unit: 'grapheme', minLength: 1 }),
  type: fc.string({ unit: 'grapheme', minLength: 1 }),
  revision: whole,
  position: whole,
  created: fc.nat({ max: 4e12 }),
  isJson: fc.boolean(),
  data: fc.oneof(json, fc.uint8Array()),
  metadata: fc.oneof(json, fc.constant(new Uint8Array())),
});

describe('a message of a subscription', () => {
  it('is the event that the client itself makes of it', () => {
    fc.assert(
      fc.property(recorded, (event) => {
        const message = messageOf(event);
        const expected = toRawEvent(convertGrpcEvent(ReadResp.deserializeBinary(bytes(message)).getEvent()));
        expect(decodeReadFrame(bytes(message))).toEqual({ kind: 'event', raw: expected });
      }),
    );
  });

  it('is a checkpoint, the word that all was read, or nothing of interest', () => {
    const checkpoint = new ReadResp();
    const place = new ReadResp.Checkpoint();
    place.setCommitPosition(LAST.toString());
    place.setPreparePosition('5');
    checkpoint.setCheckpoint(place);
    const caughtUp = new ReadResp();
    caughtUp.setCaughtUp(new ReadResp.CaughtUp());
    const confirmation = new ReadResp();
    const confirmed = new ReadResp.SubscriptionConfirmation();
    confirmed.setSubscriptionId('some');
    confirmation.setConfirmation(confirmed);
    // A number, which no subscription is told today.
    const position = new ReadResp();
    position.setLastStreamPosition('7');
    expect(decodeReadFrame(bytes(position))).toEqual({ kind: 'other' });
    expect([checkpoint, caughtUp, confirmation].map((message) => decodeReadFrame(bytes(message)))).toEqual([
      { kind: 'checkpoint', position: LAST },
      { kind: 'caught-up' },
      { kind: 'other' },
    ]);
  });

  it('that was cut or turned into something else is refused or an event, and never more than its bytes', () => {
    fc.assert(
      fc.property(recorded, fc.nat(), fc.nat(), fc.nat({ max: 255 }), (event, cut, place, byte) => {
        const message = bytes(messageOf(event));
        message[place % message.length] = byte;
        const cutMessage = message.subarray(0, cut % (message.length + 1));
        expect(['event', 'other', 'caught-up', 'checkpoint', 'refused']).toContain(outcomeOf(cutMessage));
      }),
    );
  });
});

function outcomeOf(message: Buffer): string {
  try {
    return decodeReadFrame(message).kind;
  } catch (error) {
    if (error instanceof RangeError) return 'refused';
    throw error;
  }
}
