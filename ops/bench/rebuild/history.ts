import { randomUUID } from 'node:crypto';
import { createEventRegistry, type RollcallEvent } from '../../../src/event-store/catalogue.js';
import { encodeEvent } from '../../../src/event-store/encode.js';
import type { EventLog } from '../../../src/event-store/event-log.js';
import type { CommandRecord, EncodedEvent } from '../../../src/event-store/recorded-event.js';
import type { StreamNames } from '../../../src/event-store/stream-names.js';
import type { SessionSpawn } from '../../../src/sessions/domain/events.js';

const CHILDREN_OF_A_ROOT = 49;
const EVENTS_OF_AN_APPEND = 10;
const WRITERS = 24;
const TEXT =
  'The login redirect keeps the return path only when the cookie is first-party, so the fix is to sign it.';

export interface HistorySize {
  readonly events: number;
  readonly sessions: number;
}

export interface Member {
  readonly spawn: SessionSpawn;
  revision: bigint;
  turns: number;
}

const registry = createEventRegistry();

/** A log as a busy installation leaves it: trees of sessions whose turns interleave, mostly items, some prompts. */
export async function writeHistory(log: EventLog, names: StreamNames, size: HistorySize): Promise<void> {
  const members = await plant(log, names, size.sessions);
  const appends = Math.ceil((size.events - 2 * members.length) / EVENTS_OF_AN_APPEND);
  let next = 0;
  const write = async (): Promise<void> => {
    for (let index = next++; index < appends; index = next++) {
      const member = members[index % members.length];
      if (!member) return;
      const events = Array.from({ length: EVENTS_OF_AN_APPEND }, (_, place) => turn(member, place));
      member.turns += 1;
      const stream = names.session(member.spawn.session_id);
      ({ revision: member.revision } = await appended(log, stream, events, member.revision));
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, write));
}

/** Trees of so many sessions, or a few more, that have done nothing yet. */
export async function plant(log: EventLog, names: StreamNames, sessions: number): Promise<Member[]> {
  const roots = Math.ceil(sessions / (CHILDREN_OF_A_ROOT + 1));
  const members: Member[] = [];
  let next = 0;
  const grow = async (): Promise<void> => {
    for (let index = next++; index < roots; index = next++) {
      const root = spawnOf(null, index);
      const children = Array.from({ length: CHILDREN_OF_A_ROOT }, (_, place) => spawnOf(root, place));
      const births = children.map((spawn) =>
        encoded(root, {
          type: 'ChildSpawned',
          data: { child_id: spawn.session_id, name: spawn.title, spawn },
        }),
      );
      const first = [encoded(root, { type: 'SessionSpawned', data: root }), ...births];
      const { revision } = await appended(log, names.session(root.session_id), first, null);
      members.push({ spawn: root, revision, turns: 0 });
      for (const spawn of children) {
        const born = [encoded(spawn, { type: 'SessionSpawned', data: spawn })];
        const { revision } = await appended(log, names.session(spawn.session_id), born, null);
        members.push({ spawn, revision, turns: 0 });
      }
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, grow));
  return members;
}

export async function appended(
  log: EventLog,
  stream: string,
  events: readonly EncodedEvent[],
  after: bigint | null,
): Promise<{ readonly revision: bigint; readonly position: bigint }> {
  const result = await log.append(stream, events, after ?? 'no-stream');
  if (result.outcome !== 'appended') throw new Error(`${stream} was written by somebody else`);
  return result;
}

/** A turn starts running, says things, asks once in a while, and ends idle. */
function turn(member: Member, place: number): EncodedEvent {
  const { spawn, turns } = member;
  const asks = turns % 4 === 0;
  if (place === 0) return encoded(spawn, statusChange('running'));
  if (place === EVENTS_OF_AN_APPEND - 1) return encoded(spawn, statusChange('idle'));
  const elicitation_id = `elicit_${turns}`;
  if (asks && place === 4) {
    const params = { mode: 'form', message: TEXT };
    const data = { elicitation_id, params, response_id: null, expires_at: null };
    return encoded(spawn, { type: 'ElicitationRequested', data });
  }
  if (asks && place === 6) {
    const data = {
      elicitation_id,
      action: 'accept',
      content: null,
      by: 'anonymous',
      via: 'resolve',
    } as const;
    return encoded(spawn, { type: 'ElicitationResolved', data });
  }
  return encodedItem(spawn);
}

export function encodedItem(spawn: SessionSpawn): EncodedEvent {
  return encoded(spawn, item(), commandRecord());
}

function statusChange(status: 'running' | 'idle'): RollcallEvent {
  return {
    type: 'SessionStatusChanged',
    data: {
      status,
      reported: status,
      response_id: null,
      background_task_count: null,
      blocked_on: null,
      output: null,
      error: null,
    },
  };
}

function item(): RollcallEvent {
  return {
    type: 'ItemAppended',
    data: {
      item_id: `item_${hex()}`,
      response_id: `resp_${hex()}`,
      item_type: 'message',
      payload: { role: 'assistant', content: [{ type: 'output_text', text: TEXT }], model: 'bench' },
      created_by: null,
    },
  };
}

/** One item in three was posted with a key. */
function commandRecord(): CommandRecord | null {
  if (Math.random() > 1 / 3) return null;
  const keys = [{ key: hex() + hex(), hash: hex() + hex() }];
  return { keys, status: 202, result: { item_id: `item_${hex()}` } };
}

export function spawnOf(parent: SessionSpawn | null, index: number): SessionSpawn {
  const session_id = `conv_${hex()}`;
  return {
    session_id,
    parent_session_id: parent?.session_id ?? null,
    root_session_id: parent?.root_session_id ?? session_id,
    ancestor_ids: parent ? [...parent.ancestor_ids, parent.session_id] : [],
    owner: null,
    agent_id: null,
    agent_name: null,
    title: `bench:${index}`,
    tool: null,
    session_name: null,
    labels: {},
  };
}

function encoded(
  spawn: SessionSpawn,
  event: RollcallEvent,
  command: CommandRecord | null = null,
): EncodedEvent {
  const id = randomUUID();
  return encodeEvent(registry, event, {
    id,
    correlationId: id,
    causationId: id,
    actor: 'anonymous',
    occurredAt: Date.now(),
    lineage: { root_id: spawn.root_session_id, ancestor_ids: spawn.ancestor_ids },
    command,
  });
}

function hex(): string {
  return randomUUID().replaceAll('-', '');
}
