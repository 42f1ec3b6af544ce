import fc from 'fast-check';
import {
  decideAnsweredElsewhere,
  decideRequest,
  decideVerdict,
} from '../../src/elicitations/domain/decide.js';
import { decideAppendItem } from '../../src/sessions/domain/decide/append-item.js';
import { decideStatus } from '../../src/sessions/domain/decide/change-status.js';
import { decideClose, decideRelease } from '../../src/sessions/domain/decide/close.js';
import { decideCascadeCompleted, decideReach } from '../../src/sessions/domain/decide/cascade.js';
import { decideDelete } from '../../src/sessions/domain/decide/delete.js';
import { decideInterrupt } from '../../src/sessions/domain/decide/interrupt.js';
import { decidePatch, decideRenameChild } from '../../src/sessions/domain/decide/rename.js';
import {
  decideBirth,
  decideSpawnChild,
  decideSpawnRoot,
  type SpawnRequest,
} from '../../src/sessions/domain/decide/spawn.js';
import type { CascadeIntent } from '../../src/sessions/domain/cascades.js';
import { childIds } from '../../src/sessions/domain/state.js';
import type { World } from './world.js';

/** One thing that somebody does. `who` picks among the sessions that there are. */
type Step = (world: World, who: string) => void;

const title = fc.constantFrom(null, '', 'a', 'b:c', 'ui:x:y', 'ü:😀', 'http://x');
const promptId = fc.constantFrom('E1', 'E2', 'E3');
const responseId = fc.constantFrom(null, 'r1', 'r2');
const text = fc.constantFrom('hi', ' \n', '😀'.repeat(160), 'a\u0000b', '\ud83d lone', 'tabs\tand\nlines');
const labels = fc.constantFrom<Record<string, string>>(
  {},
  { a: '1' },
  { a: '2', 'omnigent.last_task_error_code': 'c', 'omnigent.last_task_error_message': 'm' },
  { 'omnigent.last_task_error_code': '' },
);

const requestOf = (sessionId: string, named: string | null): SpawnRequest => ({
  sessionId,
  owner: null,
  agentId: null,
  agentName: null,
  title: named,
  tool: null,
  sessionName: null,
  labels: {},
});

/** `born` false: somebody else opens the child's stream, later or never. */
const spawnChild = fc.tuple(title, fc.boolean()).map(([named, born]): Step => (world, who) => {
  const id = world.nextId();
  const result = world.run(who, (state) => decideSpawnChild(state, requestOf(id, named), null));
  if (born && result && 'spawn' in result) world.follow(id, (state) => decideBirth(state, result.spawn));
});

const spawnRoot = title.map((named): Step => (world) => {
  const id = world.nextId();
  world.run(id, (state) => decideSpawnRoot(state, requestOf(id, named)));
});

const rename = fc.tuple(title, fc.boolean()).map(([named, carriedOut]): Step => (world, who) => {
  const facts = world.stateOf(who).facts;
  if (facts?.parentId) {
    const granted = world.run(facts.parentId, (parent) => decideRenameChild(parent, who, named, null));
    if (granted !== null || !carriedOut) return;
  }
  world.run(who, (state) => decidePatch(state, { title: named }));
});

const label = labels.map((given): Step => (world, who) => {
  world.run(who, (state) => decidePatch(state, { labels: given }));
});

const close = fc.boolean().map((released): Step => (world, who) => {
  world.run(who, (state) => decideClose(state, { reason: 'done', successorId: null }));
  if (released) release(world, who);
});

function release(world: World, who: string): void {
  const parent = world.stateOf(who).facts?.parentId;
  if (parent) world.follow(parent, (state) => decideRelease(state, who));
}

/** How many sessions a cascade reaches before it is cut off; whoever takes it up again begins at the top. */
const reach = fc.constantFrom(0, 1, 2, 3, Infinity);

const interrupt = fc
  .tuple(fc.constantFrom('interrupt', 'stop'), reach)
  .map(([requested, steps]): Step => (world, who) => {
    const sequence = world.run(who, (state) => decideInterrupt(state, requested))?.sequence ?? null;
    if (sequence !== null) cascade(world, { kind: 'interrupt', top: who, sequence }, steps);
  });

const remove = fc.tuple(reach, fc.boolean()).map(([steps, released]): Step => (world, who) => {
  const sequence = world.run(who, decideDelete)?.sequence ?? null;
  if (released) release(world, who);
  if (sequence !== null) cascade(world, { kind: 'delete', top: who, sequence }, steps);
});

/** The newest intent of a session that was cut off goes on, as the reactor takes it up. */
const resume = reach.map((steps): Step => (world, who) => {
  const { begun, completed } = world.stateOf(who).cascades;
  for (const kind of ['interrupt', 'delete'] as const) {
    if (completed[kind] < begun[kind]) cascade(world, { kind, top: who, sequence: begun[kind] }, steps);
  }
});

function cascade(world: World, intent: CascadeIntent, steps: number): void {
  const waiting = childIds(world.stateOf(intent.top).children);
  let isWhole = true;
  for (let left = steps; waiting.length > 0; left -= 1) {
    if (left <= 0) return;
    const id = waiting.shift() ?? '';
    const reached = world.follow(id, (state) => decideReach(state, intent, 'interrupt'));
    if (reached?.children) waiting.push(...reached.children);
    else isWhole = false;
  }
  if (isWhole) world.follow(intent.top, (state) => decideCascadeCompleted(state, intent));
}

const item = fc
  .record({ role: fc.constantFrom('user', 'assistant'), text, meta: fc.boolean(), id: fc.nat({ max: 30 }) })
  .map(({ role, text: said, meta, id }): Step => (world, who) => {
    const payload = {
      role,
      content: [{ type: 'input_text', text: said }],
      ...(meta ? { is_meta: true } : {}),
    };
    const fresh = { itemId: `i${id}`, responseId: 'r', type: 'message', payload, createdBy: null };
    world.run(who, (state) => decideAppendItem(state, fresh));
  });

const status = fc
  .record({
    status: fc.constantFrom('running', 'waiting', 'idle', 'failed'),
    responseId,
    backgroundTaskCount: fc.constantFrom(null, 0, 1, 2),
    output: fc.constantFrom(null, 'boom'),
  })
  .map((edge): Step => (world, who) => {
    world.run(who, (state) => decideStatus(state, { ...edge, blockedOn: null, reauthRequired: false }));
  });

const ask = fc
  .tuple(promptId, responseId, fc.nat({ max: 2 }))
  .map(([id, response, version]): Step => (world, who) => {
    const request = { elicitationId: id, params: { version }, responseId: response, expiresAt: null };
    if (world.stateOf(who).facts) world.run(who, ({ prompts }) => decideRequest(prompts, request));
  });

const settle = fc
  .tuple(promptId, fc.constantFrom('accept', 'decline', 'cancel', 'elsewhere', 'expiry'))
  .map(([id, how]): Step => (world, who) => {
    if (how === 'elsewhere') world.run(who, ({ prompts }) => decideAnsweredElsewhere(prompts, id));
    else if (how !== 'expiry') {
      const verdict = { elicitationId: id, action: how, content: null, by: null, via: 'resolve' } as const;
      world.run(who, ({ prompts }) => decideVerdict(prompts, verdict, () => null));
    } else if (world.stateOf(who).prompts.open.has(id)) {
      world.append(who, [{ type: 'ElicitationExpired', data: { elicitation_id: id } }]);
    }
  });

export const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 1, arbitrary: spawnRoot },
  { weight: 4, arbitrary: spawnChild },
  { weight: 2, arbitrary: rename },
  { weight: 1, arbitrary: label },
  { weight: 1, arbitrary: close },
  { weight: 2, arbitrary: interrupt },
  { weight: 1, arbitrary: remove },
  { weight: 1, arbitrary: resume },
  { weight: 3, arbitrary: item },
  { weight: 6, arbitrary: status },
  { weight: 6, arbitrary: ask },
  { weight: 4, arbitrary: settle },
);
