/** `npm run demo`: plays a recorded log on a running server and prints the rail that comes of it. */
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ReplayedEvent, readRecording } from '../event-store/recording.js';
import { CastList } from './cast-list.js';
import { DemoError } from './demo-error.js';
import { hintLines, type Snapshot } from './hints.js';
import { narrate } from './narration.js';
import { type DemoOptions, parseOptions, USAGE } from './options.js';
import { play } from './player.js';
import { censusLine, railLines } from './rail/rail.js';
import { readRail } from './rail/read-rail.js';
import { fit, plain } from '../text/terminal-text.js';
import { RollcallClient } from './rollcall-client.js';
import { Screen } from './screen.js';

const RECORDING = 'test/replay/orchestrator-with-eight-children.ndjson';

async function demo(options: DemoOptions, screen: Screen): Promise<void> {
  const file = options.log ?? join(projectDirectory(), RECORDING);
  const events = load(file);
  const client = new RollcallClient(options.url, options.user);
  await client.meet();
  screen.line(`Playing ${basename(file, '.ndjson')} (${events.length} events) on ${options.url}`);
  screen.line();
  const sessionId = await perform(events, client, options, screen);
  const entries = await readRail(client, sessionId);
  const snapshot = await client.get<Snapshot>(`/v1/sessions/${sessionId}?include_items=false`);
  screen.line();
  screen.line(screen.paint('bold', fit(plain(snapshot.title ?? 'untitled'), screen.width)));
  screen.line(screen.paint('dim', censusLine(entries, snapshot.pending_elicitations.length)));
  screen.line();
  for (const line of railLines(entries, screen.width, screen.paint)) screen.line(line);
  screen.line();
  for (const line of hintLines(snapshot, options.url, options.user)) screen.line(line);
}

async function perform(
  events: readonly ReplayedEvent[],
  client: RollcallClient,
  { speed }: DemoOptions,
  screen: Screen,
): Promise<string> {
  const cast = new CastList();
  const run = randomUUID().slice(0, 8);
  const begin = events[0]?.recordedAt ?? 0;
  const onEvent = (event: ReplayedEvent, index: number): void => {
    const line = narrate(event, cast);
    cast.notice(event);
    if (line !== null) {
      const time = screen.paint('dim', minutes(event.recordedAt - begin));
      screen.line(`  ${time}  ${fit(plain(line), screen.width - 9)}`);
    }
    screen.progress(index + 1, events.length, plain(cast.nameOf(event.subjectId)));
  };
  const sessionId = await play(events, { client, run, speed, onEvent });
  screen.clear();
  return sessionId;
}

function load(file: string): ReplayedEvent[] {
  try {
    return readRecording(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new DemoError(
      `${file} cannot be played: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

/** mm:ss */
function minutes(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1000);
  return [Math.floor(seconds / 60), seconds % 60].map((part) => String(part).padStart(2, '0')).join(':');
}

/** The checkout, from the build. */
function projectDirectory(): string {
  let directory = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(directory, 'package.json'))) directory = dirname(directory);
  return directory;
}

const screen = new Screen(process.stdout, process.env);
// `npm run demo | head` is no fault.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));
process.on('SIGINT', () => {
  screen.clear();
  process.exit(130);
});
try {
  const options = parseOptions(process.argv.slice(2));
  if (options.help) process.stdout.write(USAGE);
  else await demo(options, screen);
} catch (error) {
  screen.clear();
  const expected = error instanceof DemoError;
  const trace = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(`demo: ${expected ? plain(error.message) : trace}\n`);
  process.exitCode = expected ? error.exitCode : 1;
}
