import { describe, expect, it } from '@jest/globals';
import { compileDotNetPattern } from './dotnet-pattern.js';

const found = (pattern: string, text: string) => compileDotNetPattern(pattern)?.test(text);

describe('a .NET pattern', () => {
  it.each([
    ['^order-', 'order-1', true],
    ['^order-', 'reorder-1', false],
    ['^[^$].*', '$users', false],
    ['(?i)^ORDER', 'order-1', true],
    ['(?<name>a)b', 'xab', true],
    ['^(a|b)\\1$', 'bb', true],
    ['\\Aorder\\z', 'order', true],
    ['\\Aorder\\z', 'order-1', false],
    ['(?:\\Aa|b)c', 'xac', false],
    ['(?:\\Aa|b)c', 'xbc', true],
    ['a\\Z|b', 'b', true],
    ['a\\Z|b', 'a\n', true],
    ['a\\z|b', 'a\n', false],
    ['a$', 'a\n', true],
    ['(?m)a$', 'a\nb', true],
    ['(?m)\\Ab', 'a\nb', false],
    ['(?m)^b', 'a\nb', true],
    ['(?m)^b', 'a\rb', false],
    ['^a.b$', 'a\rb', true],
    ['(?s)^a.b$', 'a\nb', true],
    ['^\\p{Lu}', 'Order', true],
    ['^\\p{Lu}', 'order', false],
    ['^\\p{Lu}', 'p{Lu}', false],
    ['^\\w+$', 'größe', true],
    ['^[\\w-]+$', 'größe-1', true],
    ['^\\W', 'ö', false],
    ['\\bre', 'größere', false],
    ['^\\d$', '٣', true],
    ['^order\\-\\#\\ 1', 'order-# 1', true],
    ['^[\\-\\#x]$', '-', true],
    ['^[a\\]b]$', ']', true],
    ['[\\b]', '\b', true],
  ])('%j finds something in %j: %s', (pattern, text, expected) => {
    expect(found(pattern, text)).toBe(expected);
  });

  it.each([
    ['that does not close', '('],
    ['that does not close its class', '[a'],
    ['that ends in a backslash', 'a\\'],
    ['with options unknown here', '(?x)a'],
    ['with options in its middle', 'a(?i)b'],
    ['with a condition', '(?(1)a|b)'],
    ['with an atomic group', '(?>a)'],
    ['that goes on where the last match ended', '\\Ga'],
    ['that subtracts a class', '[a-z-[aeiou]]'],
    ['whose class begins with a bracket', '[]a]'],
    ['whose negated class begins with a bracket', '[^]a]'],
    ['with no word character in a class', '[\\W_]'],
    ['with a property of JavaScript alone', '\\p{Script=Greek}'],
    ['with a block of .NET alone', '\\p{IsGreek}'],
    ['with a code point in braces', '\\u{61}'],
    ['that ignores the case of a property of case', '(?i)\\p{Lu}'],
    ['with a bell', '\\a'],
    ['with a brace that .NET takes literally', 'a{,2}'],
  ])('%s is refused', (_what, pattern) => {
    expect(compileDotNetPattern(pattern)).toBeUndefined();
  });
});
