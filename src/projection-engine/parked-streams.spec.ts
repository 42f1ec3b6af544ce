import { expect, it } from '@jest/globals';
import { Database } from '../database/database.js';
import { ParkedStreams } from './parked-streams.js';

it('twenty thousand streams that are parked and freed at once keep nobody waiting', () => {
  const parked = new ParkedStreams(new Database('postgres://nowhere'), 'set');
  const streams = Array.from({ length: 20_000 }, (_, index) => `stream ${index}`);
  const place = { revision: 0n, position: 0n, eventId: '', eventType: '', reason: '' };
  const begun = performance.now();
  for (const stream of streams) parked.parked({ stream, ...place });
  expect([parked.size, parked.has('stream 19999')]).toEqual([20_000, true]);
  for (const stream of streams) parked.freed(stream);
  expect(parked.size).toBe(0);
  expect(performance.now() - begun).toBeLessThan(1_000);
});
