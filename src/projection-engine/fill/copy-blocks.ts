const BLOCK = 256 * 1024;
/** UTF-8 bytes that one UTF-16 unit may take. */
const MOST_BYTES = 3;

/** Where a text was, to go back to. */
export interface CopyPlace {
  readonly blocks: number;
  readonly used: number;
}

/** Lines of COPY as the bytes that are sent: as strings, a million of them would be carried from one collection to the next. */
export class CopyBlocks {
  private readonly full: Buffer[] = [];
  private readonly spare: Buffer[] = [];
  private block: Buffer = EMPTY;
  private used = 0;
  private fullBytes = 0;

  get bytes(): number {
    return this.fullBytes + this.used;
  }

  get place(): CopyPlace {
    return { blocks: this.full.length, used: this.used };
  }

  add(line: string): void {
    const most = line.length * MOST_BYTES;
    if (this.block.length - this.used < most) this.begin(most);
    this.used += this.block.write(line, this.used);
  }

  /** As if nothing had been added since. */
  backTo({ blocks, used }: CopyPlace): void {
    const [standing] = this.full.splice(blocks);
    if (standing) this.block = standing;
    this.used = used;
    this.fullBytes = this.full.reduce((sum, { length }) => sum + length, 0);
  }

  /** What was added; afterwards there is nothing. */
  take(): Buffer[] {
    const taken = [...this.full, this.block.subarray(0, this.used)].filter(({ length }) => length > 0);
    this.full.length = 0;
    this.block = EMPTY;
    this.used = this.fullBytes = 0;
    return taken;
  }

  /** To be written into again. Memory outside the heap is given back late, so much of it would pile up. */
  reuse(taken: readonly Buffer[]): void {
    for (const { buffer } of taken) if (buffer.byteLength === BLOCK) this.spare.push(Buffer.from(buffer));
  }

  private begin(most: number): void {
    if (this.used > 0) {
      this.full.push(this.block.subarray(0, this.used));
      this.fullBytes += this.used;
    }
    this.block = (most <= BLOCK ? this.spare.pop() : undefined) ?? Buffer.allocUnsafe(Math.max(BLOCK, most));
    this.used = 0;
  }
}

const EMPTY = Buffer.alloc(0);
