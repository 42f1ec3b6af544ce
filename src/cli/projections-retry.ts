import { setTimeout as delay } from 'node:timers/promises';
import { plain } from '../text/terminal-text.js';
import type { ParkedList } from '../projection-engine/parked-list.js';
import { type Command, print, UsageError } from './command.js';
import { withParkedList } from './parked-list.js';

const LOOK_MS = 200;
/** Longer than a takeover of the set takes. */
const PATIENCE_MS = 10_000;

export const projectionsRetry: Command = {
  words: ['projections', 'retry'],
  synopsis: '<stream> | --all',
  help: [
    'try parked streams again from the event that parked them, and wait for what comes of it;',
    'exit status 0: all are free, 1: some stay parked, 2: the stream is not parked, or no server carries it out',
  ],
  options: { all: { type: 'boolean' } },
  async run({ stores, signal }, { positionals: [stream, ...surplus], values }) {
    const all = values['all'] === true;
    if (surplus.length > 0 || all !== (stream === undefined)) throw new UsageError();
    const { databaseUrl } = await stores();
    return withParkedList(databaseUrl, async (list) => {
      const asked = await list.requestRetry(stream ?? null);
      if (asked.length > 0) return outcomeOf(list, asked, signal);
      if (stream === undefined) print('No stream is parked.');
      else process.stderr.write(`rollcall: ${plain(stream)} is not parked\n`);
      return stream === undefined ? 0 : 2;
    });
  },
};

/** Says of each stream what came of its retry, as soon as that is known. */
async function outcomeOf(list: ParkedList, asked: readonly string[], signal: AbortSignal): Promise<number> {
  let waiting = asked;
  let failed = 0;
  let fedAt = performance.now();
  for (;;) {
    const parked = new Map((await list.all()).map((report) => [report.stream, report]));
    for (const stream of waiting) {
      const report = parked.get(stream);
      if (!report) print(`${plain(stream)} is free again`);
      else if (!report.retry_requested) {
        failed += 1;
        print(
          `${plain(stream)} stays parked at revision ${report.revision} (${plain(report.event_type)}): ${plain(report.reason)}`,
        );
      }
    }
    waiting = waiting.filter((stream) => parked.get(stream)?.retry_requested === true);
    if (waiting.length === 0) return failed === 0 ? 0 : 1;
    if (await list.isFed()) fedAt = performance.now();
    if (signal.aborted || performance.now() - fedAt > PATIENCE_MS) break;
    await delay(LOOK_MS);
  }
  const why = signal.aborted ? 'not waited for' : 'no server feeds these read models';
  process.stderr.write(
    `rollcall: ${why}; ${waiting.length} requested ${waiting.length === 1 ? 'retry stands' : 'retries stand'} and will be carried out by the server that does\n`,
  );
  return 2;
}
