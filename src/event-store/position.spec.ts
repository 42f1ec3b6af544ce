import { formatPosition, parsePosition } from './position.js';

describe('the position codec', () => {
  it.each(['0', '7', '9223372036854775807'])('reads %s back as it was written', (text) => {
    const position = parsePosition(text);
    expect(position).not.toBeNull();
    expect(formatPosition(position ?? -1n)).toBe(text);
  });

  it.each([
    '',
    '-1',
    '+1',
    '01',
    '1.0',
    '1e3',
    '0x5',
    ' 5',
    '5 ',
    '9223372036854775808',
    '99999999999999999999',
    '٣',
  ])('refuses %j', (text) => {
    expect(parsePosition(text)).toBeNull();
  });
});
