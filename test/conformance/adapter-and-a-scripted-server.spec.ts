import { afterEach, describe, expect, it } from '@jest/globals';
import { LogUnavailable } from '../../src/event-store/errors.js';
import { EventLog } from '../../src/event-store/event-log.js';
import { field, grpcFrame } from './embedded-node/raw-client.js';
import { until } from './recorded-subscription.js';
import { encodedEvents, newStream, rejection } from './sample-events.js';
import type { ScriptedAnswer, ScriptedServer } from './scripted-server.js';
import { scriptedServer } from './scripted-server.js';

const [OK, UNKNOWN, INTERNAL, UNAVAILABLE] = [0, 2, 13, 14];

let server: ScriptedServer;
let log: EventLog;
afterEach(async () => {
  await log.close();
  await server.stop();
});

async function against(answer: (method: string, times: number) => ScriptedAnswer): Promise<void> {
  server = await scriptedServer(answer);
  log = new EventLog(server.url);
}

/** Revision 0 at position 80, in answer to `Append`. */
const appended = grpcFrame(field(1, Buffer.concat([Buffer.of(8, 0), field(3, Buffer.of(8, 80, 16, 80))])));
const method = (service: string, name: string) =>
  field(1, Buffer.concat([field(1, name), field(2, `event_store.client.${service}`)]));
/** What the server can do: `BatchAppend`, or `Append` alone. */
const features = (batch: boolean) =>
  grpcFrame(
    Buffer.concat([...(batch ? [method('streams.streams', 'batchappend')] : []), field(2, '24.10.0')]),
  );
const confirmed = grpcFrame(field(2, field(1, 'a-subscription')));

describe('the adapter and a server', () => {
  it.each([
    ['INTERNAL', INTERNAL],
    ['UNKNOWN', UNKNOWN],
  ])('that answers %s while it starts come together once it has started', async (_name, status) => {
    await against((called, times) => {
      if (called === 'Append') return { messages: [appended], status: OK };
      return times <= 2 ? { status } : { messages: [features(false)], status: OK };
    });
    const streams = Array.from({ length: 10 }, () => newStream());
    const outcomes = streams.map((stream) => log.append(stream, encodedEvents(1), 'no-stream'));
    expect(await Promise.all(outcomes)).toEqual(
      streams.map(() => ({ outcome: 'appended', revision: 0n, position: 80n })),
    );
    expect(server.calls.filter((called) => called === 'GetSupportedMethods')).toHaveLength(3);
  });

  it('that ends the stream of all appends in good order do not wait for each other for ever', async () => {
    await against((called) =>
      called === 'BatchAppend' ? { status: OK } : { messages: [features(true)], status: OK },
    );
    expect(await rejection(log.append(newStream(), encodedEvents(1), 'no-stream'))).toEqual(
      new LogUnavailable('unknown'),
    );
  }, 30_000);

  it('that ends a subscription in good order: the end is heard, as an error', async () => {
    await against(() => ({ messages: [confirmed] }));
    const feed = log.follow(null, ['x-'], {
      event: () => undefined,
      passed: () => undefined,
      caughtUp: () => undefined,
    });
    await until('the subscription to be open', () => server.calls.includes('Read'));
    const ended = feed.ended;
    await until('the end', () => {
      server.endOpenCalls(OK);
      return true;
    });
    expect(await ended).toMatchObject({ message: 'the log ended the subscription' });
  });

  it('one of whose calls is UNAVAILABLE: appends do not take subscriptions with them', async () => {
    await against((called) => {
      if (called === 'Read') return { messages: [confirmed] };
      return called === 'Append' ? { status: UNAVAILABLE } : { messages: [features(false)], status: OK };
    });
    let over = false;
    const feed = log.follow(null, ['x-'], {
      event: () => undefined,
      passed: () => undefined,
      caughtUp: () => undefined,
    });
    void feed.ended.then(() => (over = true));
    await until('the subscription to be open', () => server.calls.includes('Read'));
    expect(await rejection(log.append(newStream(), encodedEvents(1), 'no-stream'))).toBeInstanceOf(
      LogUnavailable,
    );
    expect(over).toBe(false);
    expect(server.calls.filter((called) => called === 'Append').length).toBeGreaterThan(1);
    await feed.stop();
  }, 30_000);
});
