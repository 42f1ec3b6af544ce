import { describe, expect, it } from '@jest/globals';
import { DeciderSpecification } from '../../../test/support/specifications/decider-specification.js';
import {
  expired,
  requested,
  resolved,
  withdrawn,
} from '../../../test/support/specifications/session-events.js';
import {
  decideAnsweredElsewhere,
  decideRequest,
  decideVerdict,
  MAX_OPEN_PROMPTS,
  withdrawAll,
  withdrawOfResponse,
  type ContentCheck,
  type PromptRequest,
  type Verdict,
} from './decide.js';
import { foldPrompts, noPrompts, type PromptBook } from './prompt-book.js';
import type { ElicitationEvent } from './events.js';

const prompts = DeciderSpecification.for<PromptBook, ElicitationEvent>({
  initial: noPrompts,
  evolve: foldPrompts,
});
const ask = (params: object): PromptRequest => ({
  elicitationId: 'E',
  params: { ...params },
  responseId: null,
  expiresAt: null,
});
const verdict = (stated: Partial<Verdict> = {}): Verdict => ({
  elicitationId: 'E',
  action: 'accept',
  content: null,
  by: 'ann',
  via: 'resolve',
  ...stated,
});
const fits: ContentCheck = () => null;
const never: ContentCheck = () => {
  throw new Error('must not be asked');
};

describe('a request (api.md 3)', () => {
  it('is recorded, and again when it asks something else', () => {
    prompts
      .given([])
      .when((book) => decideRequest(book, ask({ message: 'a' })))
      .then([requested('E', { message: 'a' })], { elicitation_id: 'E' });
    prompts
      .given([requested('E', { message: 'a' })])
      .when((book) => decideRequest(book, ask({ message: 'b' })))
      .then([requested('E', { message: 'b' })]);
  });

  it('is no news while the same prompt is open, or after an answer', () => {
    prompts
      .given([requested('E', { a: [1, { b: 2 }] })])
      .when((book) => decideRequest(book, ask({ a: [1, { b: 2 }] })))
      .thenNothing({ elicitation_id: 'E' });
    for (const action of ['accept', 'decline', 'cancel'] as const) {
      prompts
        .given([requested('E'), resolved('E', action)])
        .when((book) => decideRequest(book, ask({ message: 'b' })))
        .thenNothing({ elicitation_id: 'E' });
    }
  });

  it('is refused under an id that expired or was withdrawn', () => {
    for (const end of [expired('E'), withdrawn('E', 'closed')]) {
      prompts
        .given([requested('E'), end])
        .when((book) => decideRequest(book, ask({})))
        .thenRefused('conflict', /new id/);
    }
  });

  it('is refused when the session holds too many open prompts, but a repeat of one of them is not', () => {
    const open = Array.from({ length: MAX_OPEN_PROMPTS }, (_, n) => requested(`E${n}`));
    const again: PromptRequest = { ...ask({ message: 'b' }), elicitationId: 'E7' };
    const full = prompts.given(open);
    full.when((book) => decideRequest(book, ask({}))).thenRefused('capacity_reached', /160 open prompts/);
    full.when((book) => decideRequest(book, again)).then([requested('E7', { message: 'b' })]);
    prompts
      .given([...open, resolved('E7', 'decline')])
      .when((book) => decideRequest(book, ask({})))
      .then([requested('E', {})]);
  });

  it('is refused with a schema that is too large or too deep, and says which member', () => {
    const nested = (levels: number): object =>
      Array.from({ length: levels }).reduce<object>((inner) => ({ not: inner }), {});
    const large = (bytes: number): object => ({ title: 'x'.repeat(bytes - '{"title":""}'.length) });
    for (const requestedSchema of [nested(64), nested(50_000), large(64 * 1024 + 1)]) {
      prompts
        .given([])
        .when((book) => decideRequest(book, ask({ requestedSchema })))
        .thenRefused('invalid_input', /requestedSchema/);
    }
    for (const requestedSchema of [nested(63), large(64 * 1024)]) {
      prompts
        .given([])
        .when((book) => decideRequest(book, ask({ requestedSchema })))
        .then([requested('E', { requestedSchema })]);
    }
  });
});

describe('a verdict (design 13.7, 13.8)', () => {
  const schema = { type: 'object' };
  const form = prompts.given([requested('E', { requestedSchema: schema })]);

  it('settles an open prompt and keeps what was given with an accept', () => {
    const content = { a: 1 };
    form
      .when((book) => decideVerdict(book, verdict({ content }), fits))
      .then(
        [
          {
            type: 'ElicitationResolved',
            data: { elicitation_id: 'E', action: 'accept', content, by: 'ann', via: 'resolve' },
          },
        ],
        { settled: true },
      );
  });

  it('checks content on accept alone, and against the schema that was asked with', () => {
    const asked: unknown[] = [];
    const record: ContentCheck = (...given) => {
      asked.push(given);
      return null;
    };
    form.when((book) => decideVerdict(book, verdict(), record)).then([resolvedBy('accept')]);
    expect(asked).toEqual([[schema, {}]]);
    form
      .when((book) => decideVerdict(book, verdict({ action: 'decline', content: { bad: 1 } }), never))
      .then([resolvedBy('decline')]);
    for (const params of [{}, { requestedSchema: null }, { requestedSchema: [] }, { requestedSchema: 'x' }]) {
      prompts
        .given([requested('E', params)])
        .when((book) => decideVerdict(book, verdict(), never))
        .then([resolvedBy('accept')]);
    }
  });

  it('is refused when the content does not fit, and the prompt stays open', () => {
    form
      .when((book) =>
        decideVerdict(book, verdict({ content: { a: 1 } }), () => ({
          path: ['a'],
          message: 'content is odd',
        })),
      )
      .thenRefused('unprocessable', /content is odd/);
  });

  it('changes nothing when it comes late or for an unknown prompt, and is told what stands', () => {
    prompts
      .given([requested('E'), resolved('E', 'decline')])
      .when((book) => decideVerdict(book, verdict(), never))
      .thenNothing({ settled: false, standing: 'declined' });
    prompts
      .given([])
      .when((book) => decideVerdict(book, verdict(), never))
      .thenNothing({ settled: false, standing: null });
  });

  function resolvedBy(action: Verdict['action']): ElicitationEvent {
    return {
      type: 'ElicitationResolved',
      data: { elicitation_id: 'E', action, content: null, by: 'ann', via: 'resolve' },
    };
  }
});

describe('withdrawals', () => {
  const asking = prompts.given([requested('E', {}, 'r1'), requested('F', {}, 'r2'), requested('G')]);

  it('an answer given elsewhere ends an open prompt once', () => {
    asking
      .when((book) => decideAnsweredElsewhere(book, 'E'))
      .then([withdrawn('E', 'answered_elsewhere')], null);
    asking.when((book) => decideAnsweredElsewhere(book, 'X')).thenNothing(null);
  });

  it('take all, or those of one response', () => {
    expect(withdrawAll(asking.state, 'failed')).toEqual([
      withdrawn('E', 'failed'),
      withdrawn('F', 'failed'),
      withdrawn('G', 'failed'),
    ]);
    expect(withdrawOfResponse(asking.state, 'r2')).toEqual([withdrawn('F', 'idle')]);
  });
});
