import { listEnvelope } from './list-envelope.js';

describe('the list envelope', () => {
  it('keeps null ids on an empty page', () => {
    expect(listEnvelope([], false)).toStrictEqual({
      object: 'list',
      data: [],
      first_id: null,
      last_id: null,
      has_more: false,
    });
  });

  it('names the ends of the page and the cursor', () => {
    expect(listEnvelope([{ id: 'a' }, { id: 'b' }], true, 'next')).toStrictEqual({
      object: 'list',
      data: [{ id: 'a' }, { id: 'b' }],
      first_id: 'a',
      last_id: 'b',
      has_more: true,
      next_cursor: 'next',
    });
  });
});
