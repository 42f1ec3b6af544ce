import { LRUCache } from 'lru-cache';

/** What an entry takes beside its name. */
export const ENTRY_BYTES = 128;
/** Some 25,000 names of a common length. */
export const CACHE_BYTES = 4 * 1024 * 1024;

/** Keeps values for names. Bounded by bytes, because a name may be a byte long or tens of thousands. */
export class NameCache<Value extends NonNullable<unknown>> {
  private readonly entries: LRUCache<string, Value>;

  constructor(bytes = CACHE_BYTES) {
    this.entries = new LRUCache({
      maxSize: bytes,
      sizeCalculation: (_value, key) => ENTRY_BYTES + key.length,
    });
  }

  get bytes(): number {
    return this.entries.calculatedSize;
  }

  get(name: Buffer): Value | undefined {
    return this.entries.get(keyOf(name));
  }

  set(name: Buffer, value: Value): void {
    this.entries.set(keyOf(name), value);
  }

  delete(name: Buffer): void {
    this.entries.delete(keyOf(name));
  }

  clear(): void {
    this.entries.clear();
  }
}

/** One character a byte: names need not be text. */
function keyOf(name: Buffer): string {
  return name.toString('latin1');
}
