import { Type, type TObject } from '@sinclair/typebox';
import { TypeCompiler } from '@sinclair/typebox/compiler';
import { refuse, type Refusal } from '../../refusal.js';

const text = Type.String();
const filled = Type.String({ minLength: 1 });
const object = Type.Object({}, { additionalProperties: true });
const model = { model: filled };
const oneOf = <const T extends readonly string[]>(...values: T) =>
  Type.Union(values.map((value) => Type.Literal(value)));

/** What each item type keeps (`contract/sessions.md` 5.2). Clients write `agent` for what is read as `model`. */
const shapes: Readonly<Record<string, TObject>> = {
  message: Type.Object({
    role: oneOf('user', 'assistant'),
    content: Type.Array(object),
    model: Type.Optional(filled),
    is_meta: Type.Optional(Type.Boolean()),
    interrupted: Type.Optional(Type.Boolean()),
  }),
  function_call: Type.Object({ ...model, name: filled, arguments: text, call_id: filled }),
  function_call_output: Type.Object({ call_id: filled, output: text }),
  error: Type.Object({
    source: oneOf('llm', 'execution', 'tool'),
    code: filled,
    message: Type.String({ pattern: '\\S' }),
  }),
  reasoning: Type.Object({
    ...model,
    summary: Type.Array(Type.Unknown()),
    content: Type.Optional(Type.Array(Type.Unknown())),
    encrypted_content: Type.Optional(text),
  }),
  compaction: Type.Object({
    summary: text,
    last_item_id: text,
    token_count: Type.Integer({ minimum: 0 }),
    model: Type.Optional(text),
    compacted_messages: Type.Optional(Type.Array(object)),
    window_id: Type.Optional(text),
  }),
  native_tool: Type.Object({ item: object }),
  resource_event: Type.Object({
    event_type: filled,
    resource_id: filled,
    resource_type: filled,
    resource: Type.Optional(object),
  }),
  routing_decision: Type.Object({
    ...model,
    applied: Type.Boolean(),
    rationale: text,
    scope: Type.Optional(oneOf('session', 'turn', 'child_session', 'native_subagent')),
    agent: Type.Optional(text),
    harness: Type.Optional(text),
    decision_id: Type.Optional(text),
    raw_model: Type.Optional(text),
    attempted_override: Type.Optional(text),
    router_source: Type.Optional(text),
  }),
  slash_command: Type.Object({
    ...model,
    kind: Type.Optional(oneOf('skill', 'command')),
    name: filled,
    arguments: text,
    output: Type.Optional(text),
  }),
  terminal_command: Type.Object({
    kind: oneOf('input', 'output'),
    input: Type.Optional(text),
    stdout: Type.Optional(text),
    stderr: Type.Optional(text),
  }),
};

const DEFAULTS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  routing_decision: { scope: 'turn' },
  slash_command: { kind: 'skill' },
};

/** Shown only when true. */
const FLAGS = ['is_meta', 'interrupted'];

const checks = new Map(Object.entries(shapes).map(([type, shape]) => [type, TypeCompiler.Compile(shape)]));

export const ITEM_TYPES: readonly string[] = Object.keys(shapes);

export type ItemPayload = Readonly<Record<string, unknown>>;

/** The payload as it is stored: known members only, nulls left out. A refusal is 400 and names what is wrong. */
export function toItemPayload(type: string, data: Readonly<Record<string, unknown>>): ItemPayload | Refusal {
  const shape = shapes[type];
  const check = checks.get(type);
  if (!shape || !check) return refuse('invalid_input', `Unknown item type "${type}".`);
  const payload = withModel(type, known(shape, type, data), data);
  if (!check.Check(payload)) {
    const error = check.Errors(payload).First();
    return invalid(type, `${error?.path ?? '/'}: ${error?.message ?? 'unexpected value'}`);
  }
  if (payload['role'] === 'assistant' && payload['model'] === undefined)
    return invalid(type, '/agent: required for assistant');
  return payload;
}

function known(
  shape: TObject,
  type: string,
  data: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const source = { ...DEFAULTS[type], ...data };
  const kept = Object.keys(shape.properties).filter(
    (key) => source[key] !== undefined && source[key] !== null,
  );
  const payload = Object.fromEntries(kept.map((key) => [key, source[key]]));
  for (const flag of FLAGS) if (payload[flag] === false) delete payload[flag];
  if (type === 'error' && typeof payload['message'] === 'string')
    payload['message'] = payload['message'].trim();
  return payload;
}

function withModel(
  type: string,
  payload: Record<string, unknown>,
  data: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const agent = data['agent'];
  const takesModel = 'model' in (shapes[type]?.properties ?? {}) && type !== 'routing_decision';
  return takesModel && payload['model'] === undefined && typeof agent === 'string'
    ? { ...payload, model: agent }
    : payload;
}

function invalid(type: string, why: string): Refusal {
  return refuse('invalid_input', `Invalid data payload for event type "${type}" at ${why}`);
}
