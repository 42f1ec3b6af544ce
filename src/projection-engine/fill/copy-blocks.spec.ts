import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { CopyBlocks } from './copy-blocks.js';

const textOf = (blocks: readonly Buffer[]): string => Buffer.concat(blocks).toString();

it('holds what was added and not taken back, whatever its size', () => {
  const piece = fc.record({
    text: fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom(0, 1, 90_000, 300_000)),
    kept: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(fc.array(piece, { maxLength: 6 }), { maxLength: 4 }), (rounds) => {
      const blocks = new CopyBlocks();
      for (const pieces of rounds) {
        let expected = '';
        for (const { text, kept } of pieces) {
          const line = typeof text === 'string' ? text : 'é'.repeat(text);
          const { place } = blocks;
          blocks.add(line);
          if (kept) expected += line;
          else blocks.backTo(place);
          expect(blocks.bytes).toBe(Buffer.byteLength(expected));
        }
        const taken = blocks.take();
        expect(textOf(taken)).toBe(expected);
        blocks.reuse(taken);
      }
    }),
  );
});

it('goes back over several lines', () => {
  const blocks = new CopyBlocks();
  blocks.add('kept');
  const { place } = blocks;
  for (let count = 0; count < 5; count += 1) blocks.add('x'.repeat(100_000));
  blocks.backTo(place);
  blocks.add(' and gone on');
  expect(textOf(blocks.take())).toBe('kept and gone on');
});
