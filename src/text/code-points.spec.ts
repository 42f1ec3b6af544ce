import { fitsCodePoints } from './code-points.js';
import { isSafeText } from './well-formed.js';

describe('safe text', () => {
  it('holds neither NUL nor a lone surrogate', () => {
    expect(['', 'a', 'ä', '😀', '\ufffd', 'a\nb'].every(isSafeText)).toBe(true);
    expect(['\0', 'a\ud800', '\udc00a', '\udc00\ud800'].some(isSafeText)).toBe(false);
  });

  it('is measured in code points', () => {
    expect(fitsCodePoints('😀😀', 2)).toBe(true);
    expect(fitsCodePoints('😀😀', 1)).toBe(false);
    expect(fitsCodePoints('😀a', 1)).toBe(false);
    expect(fitsCodePoints('aaa', 2)).toBe(false);
    expect(fitsCodePoints('', 0)).toBe(true);
  });
});
