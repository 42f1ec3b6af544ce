import { firstCodePoints } from './code-points.js';

/**
 * The longest beginning of a text, or nearly so, that takes at most `bytes` inside JSON, where one character may take
 * six; the text itself when it fits. Never cuts a surrogate pair.
 */
export function cutToJsonBytes(text: string, bytes: number): string {
  let kept = text.length > bytes ? firstCodePoints(text, bytes) : text;
  for (let size = jsonBytes(kept); size > bytes; size = jsonBytes(kept)) {
    kept = firstCodePoints(kept, Math.floor((Array.from(kept).length * bytes) / size));
  }
  return kept;
}

function jsonBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text)) - 2;
}
