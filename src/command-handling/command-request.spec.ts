import { describe, expect, it } from '@jest/globals';
import { derivedId, digest, mintId, mintResponseId, type CommandRequest } from './command-request.js';

const request = (key: string | null): CommandRequest => ({
  principal: { kind: 'anonymous' },
  requestId: 'r',
  idempotency: key === null ? null : { key, hash: 'h' },
  waits: true,
});

describe('minted ids (design 13.1)', () => {
  it.each([
    ['session', /^conv_[0-9a-f]{32}$/],
    ['item', /^item_[0-9a-f]{32}$/],
    ['elicitation', /^elicit_[0-9a-f]{32}$/],
  ] as const)('of a %s look like %s', (kind, form) => {
    expect(mintId(kind, request(null))).toMatch(form);
    expect(mintId(kind, request('k'))).toMatch(form);
    expect(mintResponseId()).toMatch(/^resp_[0-9a-f]{32}$/);
  });

  it('follow from the key, so that the log refuses the twin', () => {
    expect(mintId('session', request('k'))).toBe(mintId('session', request('k')));
    expect(mintId('session', request('k'))).not.toBe(mintId('session', request('l')));
    expect(mintId('session', request(null))).not.toBe(mintId('session', request(null)));
  });

  it('of natural keys do not run into each other', () => {
    expect(derivedId('item', 'a', 'bc')).not.toBe(derivedId('item', 'ab', 'c'));
    expect(derivedId('item', 'a', 'b')).toBe(derivedId('item', 'a', 'b'));
    expect(digest('a', 'bc')).not.toBe(digest('ab', 'c'));
    expect(digest('a","b')).not.toBe(digest('a', 'b'));
  });
});
