import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { FrameDecoder, frame } from './frame-decoder.js';

describe('cutting a byte stream into messages', () => {
  it('gives the same messages however the bytes are cut', () => {
    const messages = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 8 });
    fc.assert(
      fc.property(messages, fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1 }), (sent, cuts) => {
        const bytes = Buffer.concat(sent.map((message) => frame(Buffer.from(message))));
        const decoder = new FrameDecoder();
        const received: number[][] = [];
        for (let at = 0, cut = 0; at < bytes.length; cut += 1) {
          const end = at + (cuts[cut % cuts.length] ?? 1);
          decoder.push(Buffer.from(bytes.subarray(at, end)), (message) => received.push([...message]));
          at = end;
        }
        expect(received).toEqual(sent.map((message) => [...message]));
        expect(decoder.betweenMessages).toBe(true);
      }),
    );
  });

  it('knows when it ends inside a message', () => {
    const decoder = new FrameDecoder();
    decoder.push(frame(Buffer.from('hello')).subarray(0, 7), () => undefined);
    expect(decoder.betweenMessages).toBe(false);
  });

  it('refuses a message that is too long when its length is announced', () => {
    const decoder = new FrameDecoder(10);
    expect(() => decoder.push(frame(Buffer.alloc(11)).subarray(0, 5), () => undefined)).toThrow(
      'A message of 11 bytes is longer than the limit of 10.',
    );
  });

  it('refuses compressed messages', () => {
    expect(() => new FrameDecoder().push(Buffer.of(1, 0, 0, 0, 0), () => undefined)).toThrow('Compressed');
  });
});
