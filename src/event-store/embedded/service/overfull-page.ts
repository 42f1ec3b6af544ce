import type { FrameBatch } from '../protocol/read-response.js';
import { PAGE_BYTES } from './all-cursor.js';

/** A page of records with their frames stays below. */
const MOST_BYTES = 2 * Number(PAGE_BYTES);

/** True when a page has to go out in parts: links are small, and what they point at may not be. */
export function isOverfull(batch: FrameBatch): boolean {
  return batch.bytes > MOST_BYTES;
}
