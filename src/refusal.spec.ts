import { isRefusal, refuse } from './refusal.js';

describe('a refusal', () => {
  it('is a plain value with a code of the contract', () => {
    expect(refuse('conflict', 'Session is closed')).toEqual({
      refused: true,
      code: 'conflict',
      message: 'Session is closed',
    });
  });

  it('can carry further members of the answer', () => {
    expect(refuse('capacity_reached', 'full', { status: 'rejected' }).details).toEqual({
      status: 'rejected',
    });
  });

  it('is told from events, texts and nothing', () => {
    expect(isRefusal(refuse('gone', 'x'))).toBe(true);
    expect([null, undefined, 'refused', [], { refused: 'true' }].some(isRefusal)).toBe(false);
  });
});
