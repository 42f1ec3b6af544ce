import fc from 'fast-check';
import {
  decideAnsweredElsewhere,
  decideRequest,
  decideVerdict,
} from '../../src/elicitations/domain/decide.js';
import { decideAppendItem } from '../../src/sessions/domain/decide/append-item.js';
import { decideStatus } from '../../src/sessions/domain/decide/change-status.js';
import { decideClose, decideRelease } from '../../src/sessions/domain/decide/close.js';
import { decidePatch, decideRenameChild } from '../../src/sessions/domain/decide/rename.js';
import {
  decideBirth,
  decideSpawnChild,
  decideSpawnRoot,
  type SpawnRequest,
} from '../../src/sessions/domain/decide/spawn.js';
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
  if (born && result && 'spawn' in result) world.run(id, (state) => decideBirth(state, result.spawn));
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
  const parent = world.stateOf(who).facts?.parentId;
  if (parent && released) world.run(parent, (state) => decideRelease(state, who));
});

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
  { weight: 3, arbitrary: item },
  { weight: 6, arbitrary: status },
  { weight: 6, arbitrary: ask },
  { weight: 4, arbitrary: settle },
);
