import { expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { startEventStore } from '../../test/support/process/event-store-process.js';
import { tempDirectory } from '../../test/support/run/run-directory.js';
import { EventLog } from './event-log.js';

it('reads that were left early are over: closing the log waits for none of them', async () => {
  const dir = tempDirectory('event-log');
  const node = await startEventStore(dir);
  const log = new EventLog(node.url);
  try {
    const metadata = {
      schema: 1,
      $correlationId: 'c',
      $causationId: 'c',
      actor: 'anonymous',
      occurred_at: '',
    };
    const events = Array.from({ length: 3 }, () => ({
      id: randomUUID(),
      type: 'Seen',
      data: { text: 'x'.repeat(400) },
      metadata,
      bytes: 500,
    }));
    await log.append('seen', events, 'no-stream');
    for (let round = 0; round < 5; round += 1) {
      expect(await log.head()).not.toBeNull();
      for await (const event of log.read('seen', { limit: 1 })) {
        expect(event.revision).toBe(0n);
        break;
      }
    }
    const begin = performance.now();
    await log.close();
    // Left open, one such read holds the client until the time limit of `close`, half a second.
    expect(performance.now() - begin).toBeLessThan(400);
  } finally {
    await log.close();
    await node.end('SIGTERM');
    rmSync(dir, { recursive: true, force: true });
  }
});
