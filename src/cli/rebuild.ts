import { projectionSet } from '../../projections/projection-set.js';
import { SystemClock } from '../clock/clock.js';
import { migrate } from '../database/migrate.js';
import { createEventRegistry } from '../event-store/catalogue.js';
import { EventLog } from '../event-store/event-log.js';
import { logIdentity } from '../event-store/log-identity.js';
import { StreamNames } from '../event-store/stream-names.js';
import { EventReader } from '../projection-engine/event-reader.js';
import type { ParkedStream } from '../projection-engine/parking.js';
import { rebuild as rebuildSet, type RebuildOutcome } from '../projection-engine/rebuild/rebuild.js';
import { thisBuild } from '../projection-engine/this-build.js';
import { SET_VERSION } from '../projection-engine/this-set.js';
import { plain } from '../text/terminal-text.js';
import { type Command, type CommandContext, print, UsageError } from './command.js';
import { FoldProgress } from './progress.js';

const NAMES = projectionSet.map(({ name }) => name);
const SHOWN_PARKED = 20;

export const rebuild: Command = {
  words: ['rebuild'],
  synopsis: '<projection>…|--all [--even-if-parked]',
  help: [
    'fold read models anew from the log, also while servers run: what is served stays until the new tables take its place;',
    `projections: ${NAMES.join(', ')};`,
    'with --all also read models that are missing or belong to another log; Ctrl-C stops it, the same command goes on;',
    '--even-if-parked: swap although the fold parked streams that are not parked now',
  ],
  options: { all: { type: 'boolean' }, 'even-if-parked': { type: 'boolean' } },
  async run(context, { positionals, values }) {
    const isAll = values['all'] === true;
    if (isAll === positionals.length > 0) throw new UsageError('name projections, or --all');
    const unknown = positionals.find((name) => !NAMES.includes(name));
    if (unknown !== undefined) throw new UsageError(`there is no projection ${JSON.stringify(unknown)}`);
    const chosen = projectionSet.filter(({ name }) => isAll || positionals.includes(name));
    return carryOut(context, chosen, values['even-if-parked'] === true);
  },
};

async function carryOut(
  { config, signal, stores }: CommandContext,
  chosen: typeof projectionSet,
  evenIfParked: boolean,
): Promise<number> {
  const { eventStoreUrl, databaseUrl } = await stores();
  await migrate(databaseUrl);
  const log = new EventLog(eventStoreUrl);
  const registry = createEventRegistry();
  const names = new StreamNames(config.streamPrefix);
  const bars: FoldProgress[] = [];
  try {
    const outcome = await rebuildSet({
      databaseUrl,
      log,
      reader: new EventReader(registry, names),
      names,
      logId: await logIdentity(log, registry, names, new SystemClock()),
      setVersion: SET_VERSION,
      set: projectionSet,
      chosen,
      build: thisBuild(),
      evenIfParked,
      signal,
      onBegin: ({ from, to }) => {
        if (from >= 0n) print(`Going on from position ${from}.`);
        bars.push(new FoldProgress(from, to));
      },
      onProgress: (progress) => bars[0]?.show(progress),
    });
    bars[0]?.end();
    return told(outcome);
  } catch (error) {
    bars[0]?.end();
    if (!signal.aborted) throw error;
    print('Stopped; what was folded is kept, and the same command goes on from there.');
    return 1;
  } finally {
    await log.close();
  }
}

function told(outcome: RebuildOutcome): number {
  if (outcome.kind === 'refused') {
    print('The fold parks streams that are not parked now; nothing was swapped:');
    list(outcome.parked);
    print('Find out why, or run it again with --even-if-parked.');
    return 1;
  }
  print(
    outcome.kind === 'filled'
      ? `The read models are filled up to position ${outcome.position}.`
      : `The new tables are in place, swapped at position ${outcome.position}.`,
  );
  if (outcome.parked.length > 0) print(`${outcome.parked.length} streams are parked:`);
  list(outcome.parked);
  return 0;
}

function list(parked: readonly ParkedStream[]): void {
  for (const { stream, revision, eventType, reason } of parked.slice(0, SHOWN_PARKED))
    print(`  ${plain(stream)} from revision ${revision} (${plain(eventType)}): ${plain(reason)}`);
  if (parked.length > SHOWN_PARKED) print(`  … and ${parked.length - SHOWN_PARKED} more`);
}
