import { parseId } from './ids.js';

const HEX = '0123456789abcdef0123456789abcdef';
const CANONICAL = `conv_${HEX}`;

describe('ids that clients write', () => {
  it.each([
    HEX,
    HEX.toUpperCase(),
    '01234567-89ab-cdef-0123-456789abcdef',
    CANONICAL,
    `ag_${HEX}`,
    `agy_conv_${HEX}`,
    `deleg_${HEX}`,
  ])('%s names the session', (raw) => {
    expect(parseId('session', raw)).toBe(CANONICAL);
  });

  it.each([
    '',
    'conv_no_such_session',
    HEX.slice(1),
    `${HEX}0`,
    `conv_conv_${HEX}`,
    `CONV_${HEX}`,
    `foo_${HEX}`,
    `conv_${HEX}\n`,
    `conv_${HEX.slice(1)}g`,
    'conv_01234567-89ab-cdef-0123-456789abcdef',
    '0123456789ab-cdef-0123-456789abcdef-0000',
  ])('%j is none', (raw) => {
    expect(parseId('session', raw)).toBeNull();
  });

  it('takes the prefix of its kind', () => {
    expect(parseId('delegation', HEX)).toBe(`deleg_${HEX}`);
    expect(parseId('agent', CANONICAL)).toBe(`ag_${HEX}`);
  });
});
