import { ANONYMOUS, ownerOf, principalKey, userPrincipal } from './principal.js';

describe('a principal', () => {
  it('is a user under the trimmed name', () => {
    expect(userPrincipal('  ada@example.com ')).toEqual({ kind: 'user', id: 'ada@example.com' });
  });

  it.each([
    ['blank', '   '],
    ['the reserved local user', 'local'],
    ['the reserved local user in other letters', 'Local'],
    ['the reserved public user', '__public__'],
    ['with NUL', 'ada\0'],
    ['with a line break inside', 'ada\r\nx'],
    ['with a blank inside', 'ada lovelace'],
    ['with an invisible character', 'ada\u200b@example.com'],
    ['with a lone surrogate', 'ada\ud800'],
    ['longer than 320 code points', 'a'.repeat(321)],
  ])('cannot be %s', (_, name) => {
    expect(userPrincipal(name)).toBeNull();
  });

  it('has a key and an owner of its own', () => {
    const anonymousByName = userPrincipal('anonymous');
    expect(anonymousByName).not.toBeNull();
    expect(principalKey(anonymousByName ?? ANONYMOUS)).not.toBe(principalKey(ANONYMOUS));
    expect(ownerOf(ANONYMOUS)).toBeNull();
    expect(ownerOf({ kind: 'user', id: 'ada' })).toBe('ada');
  });
});
