import { setTimeout as delay } from 'node:timers/promises';
import type { ReplayedEvent } from '../event-store/recording.js';
import { type Call, callFor } from './call.js';
import { IdMap } from './id-map.js';
import { type Answer, granted, type RollcallClient } from './rollcall-client.js';

/** Recorded silence longer than this is cut to it, milliseconds. */
const LONGEST_GAP_MS = 2_000;

export interface Playing {
  readonly client: RollcallClient;
  /** Names this run in its Idempotency-Keys: the same run repeats, another run makes a new tree. */
  readonly run: string;
  /** Recorded seconds per second; infinite for no pauses. */
  readonly speed: number;
  /** Told before each event is given to the server. */
  readonly onEvent: (event: ReplayedEvent, index: number) => void;
}

/** Gives the commands of a recording again, one after the other. Resolves to the id of its first session. */
export async function play(events: readonly ReplayedEvent[], playing: Playing): Promise<string> {
  const ids = new IdMap();
  for (const [index, event] of events.entries()) {
    await pauseBefore(event, events[index - 1], playing.speed);
    playing.onEvent(event, index);
    const call = callFor(event, ids, Date.now());
    if (call) await give(call, event, ids, playing);
  }
  const root = events.find(({ event }) => event.type === 'SessionSpawned');
  if (!root) throw new Error('the recording spawns no session');
  return ids.of(root.subjectId);
}

async function give(call: Call, event: ReplayedEvent, ids: IdMap, playing: Playing): Promise<void> {
  const { client, run } = playing;
  const key = `demo-${run}-${event.id}`;
  const answer = await client.send(call, key);
  const body = granted(
    `${call.method} ${call.path}`,
    await unlessNameIsTaken(answer, call, event, playing, key),
  );
  const own = call.gives && (body as Readonly<Record<string, unknown>>)[call.gives.member];
  if (call.gives && typeof own === 'string') ids.learn(call.gives.recorded, own);
}

/** Somebody's agent may have the name already, with another specification: ours then takes the run's name along. */
async function unlessNameIsTaken(
  answer: Answer,
  call: Call,
  { event }: ReplayedEvent,
  { client, run }: Playing,
  key: string,
): Promise<Answer> {
  if (event.type !== 'AgentRegistered' || answer.status !== 409) return answer;
  return client.send(
    { ...call, body: { ...call.body, name: `${event.data.name}-${run}` } },
    `${key}-renamed`,
  );
}

async function pauseBefore(
  event: ReplayedEvent,
  before: ReplayedEvent | undefined,
  speed: number,
): Promise<void> {
  const gap = Math.min(event.recordedAt - (before?.recordedAt ?? event.recordedAt), LONGEST_GAP_MS) / speed;
  if (gap >= 1) await delay(gap);
}
