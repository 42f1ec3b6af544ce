import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EventType } from '../../src/event-store/event-type.js';

/** Data as an old schema wrote it, and what this build must read it as. */
export interface OldEvent {
  readonly type: string;
  readonly schema: number;
  readonly data: unknown;
  readonly reads_as: unknown;
}

/** The stored examples of a catalogue's old schemas. Throws when an old schema has none, naming it. */
export function oldEvents(directory: string, catalogue: readonly EventType[]): OldEvent[] {
  return catalogue
    .filter(({ schema }) => schema > 1)
    .flatMap(({ type, schema }) => {
      const stored = storedOf(directory, type);
      for (let old = 1; old < schema; old += 1) {
        if (!stored.some((event) => event.schema === old))
          throw new Error(`${type} has no stored example of schema ${old}`);
      }
      return stored;
    });
}

function storedOf(directory: string, type: string): OldEvent[] {
  const file = join(directory, `${type}.ndjson`);
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines
    .filter((line) => line !== '')
    .map((line) => ({ type, ...(JSON.parse(line) as Omit<OldEvent, 'type'>) }));
}
