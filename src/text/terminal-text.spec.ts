import { describe, expect, it } from '@jest/globals';
import { column, fit, plain, widthOf } from './terminal-text.js';

describe('plain', () => {
  it.each([
    ['colours', '\u001b[1m\u001b[32m ✓ 214 passed\u001b[39m', '✓ 214 passed'],
    ['a moved cursor and a cleared screen', 'a\u001b[2J\u001b[1;1Hb', 'ab'],
    ['a window title', '\u001b]0;owned\u0007text', 'text'],
    ['a hidden link', '\u001b]8;;http://evil.example\u0007here\u001b]8;;\u0007', 'here'],
    ['a cleared screen before a bell', '\u001b[2Jgone\u0007', 'gone␇'],
    ['a title that never ends', 'a\u001b]0;owned', 'a␛]0;owned'],
    ['a reset terminal', 'a\u001bcb\u001b(0c', 'abc'],
    ['an escape sequence that the preview has cut', 'text \u001b[3', 'text ␛[3'],
    ['a carriage return and line feeds', 'one\r\ntwo\tthree', 'one two three'],
    ['bell, backspace and delete', 'a\u0007b\u0008c\u007f', 'a␇b␈c␡'],
    ['C1 controls', 'a\u009b31mb', 'ab'],
    ['text that turns around', 'abc\u202eexe.txt', 'abc\ufffdexe.txt'],
    ['a lone surrogate', 'a\ud83d', 'a\ufffd'],
  ])('shows %s harmlessly', (_what, text, shown) => {
    expect(plain(text)).toBe(shown);
  });

  it('leaves text of any script and joined emoji alone', () => {
    const text = 'Grüße, 大阪のお客様 👩‍👩‍👧';
    expect(plain(text)).toBe(text);
  });
});

describe('fit', () => {
  it('leaves what fits', () => expect(fit('short', 5)).toBe('short'));
  it('cuts with an ellipsis', () => expect(fit('somewhat longer', 9)).toBe('somewhat…'));
  it('leaves no blank before the ellipsis', () => expect(fit('one two', 5)).toBe('one…'));
  it('counts two columns for wide characters', () => {
    expect(fit('大阪のお客様', 8)).toBe('大阪の…');
    expect(widthOf(fit('大阪のお客様', 8))).toBe(7);
  });
  it('never cuts inside what is seen as one character', () => {
    expect(fit('ab👩‍👩‍👧cd', 4)).toBe('ab…');
    expect(fit('ae\u0301\u0301bc', 3)).toBe('ae\u0301\u0301…');
  });
  it('gives nothing where there is no room', () => expect(fit('text', 0)).toBe(''));
});

it('a column has its width whatever stands in it', () => {
  for (const text of ['', 'a', '大阪', 'a大阪のお客様', '👩‍👩‍👧 family'])
    expect(widthOf(column(text, 7))).toBe(7);
});
