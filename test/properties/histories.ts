import fc from 'fast-check';
import type { ProjectedEvent } from '../../projections/projection.js';
import { projectionSet } from '../../projections/projection-set.js';
import { createEventRegistry, type RollcallEvent } from '../../src/event-store/catalogue.js';
import type { RawEvent, RecordedEvent } from '../../src/event-store/recorded-event.js';
import { StreamNames } from '../../src/event-store/stream-names.js';
import { decideSpawnRoot } from '../../src/sessions/domain/decide/spawn.js';
import { MemoryTables } from '../support/specifications/memory-tables.js';
import { step } from './steps.js';
import { World, type Append } from './world.js';

const registry = createEventRegistry();
export const names = new StreamNames('rollcall.');

/** What a root without any particulars is spawned with. */
export const bareRoot = {
  owner: null,
  agentId: null,
  agentName: null,
  title: null,
  tool: null,
  sessionName: null,
  labels: {},
};

/** A log over a small forest, as its appends. */
export const history: fc.Arbitrary<readonly Append[]> = fc
  .array(fc.tuple(step, fc.nat()), { minLength: 1, maxLength: 120, size: 'max' })
  .map((steps) => {
    const world = new World();
    const root = world.nextId();
    world.run(root, (state) => decideSpawnRoot(state, { ...bareRoot, sessionId: root }));
    for (const [act, pick] of steps) act(world, world.sessions[pick % world.sessions.length] ?? root);
    return world.appends;
  });

/** As the engine hands it to the projectors. */
export function read(raw: RawEvent): ProjectedEvent {
  // The world writes events of the catalogue only.
  const recorded = registry.decode(raw) as RecordedEvent<RollcallEvent>;
  return { ...recorded, subjectId: names.subjectOf(raw.stream) };
}

/** Every table, by its name, as one straight fold makes it. */
export type Tables = Readonly<Record<string, readonly object[]>>;

export function foldInBatches(batches: readonly (readonly ProjectedEvent[])[]): Tables {
  const tables = new MemoryTables(projectionSet);
  for (const batch of batches) tables.apply(batch);
  return Object.fromEntries(projectionSet.map((projection) => [projection.name, tables.rowsOf(projection)]));
}

/** The list cut at the given points, which may lie anywhere. */
export function cutAt<T>(list: readonly T[], points: readonly number[]): T[][] {
  const cuts = [...new Set(points.map((point) => point % (list.length + 1)))].sort((a, b) => a - b);
  return [0, ...cuts].map((from, index) => list.slice(from, cuts[index] ?? list.length));
}

/** `ROLLCALL_LONG=1` looks longer. A failure prints the seed and path that repeat it. */
export function runs(usual: number, long: number): { numRuns: number } {
  return { numRuns: process.env['ROLLCALL_LONG'] === '1' ? long : usual };
}
