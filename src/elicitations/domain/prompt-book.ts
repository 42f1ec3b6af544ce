import { Map as ImmutableMap } from 'immutable';
import type { ElicitationAction, ElicitationEvent } from './events.js';

export type PromptState = 'open' | 'answered' | 'declined' | 'cancelled' | 'expired' | 'withdrawn';
export type SettledState = Exclude<PromptState, 'open'>;
export type PromptParams = Readonly<Record<string, unknown>>;

export interface OpenPrompt {
  readonly params: PromptParams;
  readonly responseId: string | null;
}

/** The prompts of one session. Settled ones stay known, so that a repeated id or verdict is told what stands. */
export interface PromptBook {
  readonly open: ImmutableMap<string, OpenPrompt>;
  readonly settled: ImmutableMap<string, SettledState>;
}

export const noPrompts: PromptBook = { open: ImmutableMap(), settled: ImmutableMap() };

export function stateAfter(action: ElicitationAction): SettledState {
  switch (action) {
    case 'accept':
      return 'answered';
    case 'decline':
      return 'declined';
    case 'cancel':
      return 'cancelled';
  }
}

export function foldPrompts(book: PromptBook, event: ElicitationEvent): PromptBook {
  const id = event.data.elicitation_id;
  switch (event.type) {
    case 'ElicitationRequested': {
      if (book.settled.has(id)) return book;
      const { params, response_id } = event.data;
      return { ...book, open: book.open.set(id, { params, responseId: response_id }) };
    }
    case 'ElicitationResolved':
      return settle(book, id, stateAfter(event.data.action));
    case 'ElicitationExpired':
      return settle(book, id, 'expired');
    case 'ElicitationWithdrawn':
      return settle(book, id, 'withdrawn');
  }
}

/** The first verdict stands, whatever the log says later. */
function settle(book: PromptBook, id: string, state: SettledState): PromptBook {
  if (!book.open.has(id)) return book;
  return { open: book.open.delete(id), settled: book.settled.set(id, state) };
}
