import { describe, expect, it } from '@jest/globals';
import {
  expired,
  requested,
  resolved,
  withdrawn,
} from '../../../test/support/specifications/session-events.js';
import type { ElicitationEvent } from './events.js';
import { foldPrompts, noPrompts, type PromptBook, type SettledState } from './prompt-book.js';

const bookAfter = (...events: ElicitationEvent[]): PromptBook => events.reduce(foldPrompts, noPrompts);

describe('the prompt book', () => {
  it('keeps open prompts in the order of their first requests, payload replaced', () => {
    const book = bookAfter(requested('E1', { n: 1 }), requested('E2'), requested('E1', { n: 2 }, 'r'));
    expect([...book.open.keys()]).toEqual(['E1', 'E2']);
    expect(book.open.get('E1')).toEqual({ params: { n: 2 }, responseId: 'r' });
  });

  it.each<[ElicitationEvent, SettledState]>([
    [resolved('E', 'accept'), 'answered'],
    [resolved('E', 'decline'), 'declined'],
    [resolved('E', 'cancel'), 'cancelled'],
    [expired('E'), 'expired'],
    [withdrawn('E', 'closed'), 'withdrawn'],
  ])('%j settles as %s, and the first verdict stands', (event, state) => {
    const book = bookAfter(requested('E'), event, resolved('E', 'accept'), expired('E'), requested('E'));
    expect(book.open.size).toBe(0);
    expect(book.settled.toObject()).toEqual({ E: state });
  });

  it('does not know what was never asked', () => {
    const book = bookAfter(resolved('E', 'accept'), withdrawn('F', 'idle'));
    expect(book.settled.size).toBe(0);
    expect([...bookAfter(resolved('E', 'accept'), requested('E')).open.keys()]).toEqual(['E']);
  });
});
