import { Type } from '@sinclair/typebox';
import { TypeCompiler, type TypeCheck } from '@sinclair/typebox/compiler';
import type { TSchema } from '@sinclair/typebox';
import { toSafeJson } from '../text/well-formed.js';
import type { DomainEvent, EventType } from './event-type.js';
import type { EventMetadata, RawEvent, RecordedEvent } from './recorded-event.js';

/** The event cannot be understood by this build. Its stream is parked, never skipped (design 6). */
export class UnreadableEvent extends Error {
  constructor(
    readonly reason: string,
    readonly source: { stream: string; revision: bigint; type: string },
  ) {
    super(`${source.type} at ${source.stream}@${source.revision}: ${reason}`);
    this.name = 'UnreadableEvent';
  }
}

const metadataShape = Type.Object({
  schema: Type.Integer({ minimum: 1 }),
  $correlationId: Type.String(),
  $causationId: Type.String(),
  actor: Type.String(),
  occurred_at: Type.String(),
  root_id: Type.Optional(Type.String()),
  ancestor_ids: Type.Optional(Type.Array(Type.String())),
  command: Type.Optional(
    Type.Object({
      keys: Type.Array(Type.Object({ key: Type.String(), hash: Type.String() })),
      status: Type.Integer(),
      result: Type.Record(Type.String(), Type.String()),
    }),
  ),
});

interface Entry {
  readonly definition: EventType;
  readonly check: TypeCheck<TSchema>;
}

/** Maps (type, schema version) to a checked shape: refuses unknown shapes on write, upcasts on read. */
export class EventRegistry {
  private readonly entries = new Map<string, Entry>();
  private readonly metadata = TypeCompiler.Compile(metadataShape);

  /** `retired`: types that nothing writes any more and nobody needs: readers pass over their events. */
  constructor(
    definitions: Iterable<EventType>,
    private readonly retired: ReadonlySet<string>,
  ) {
    for (const definition of definitions) {
      if (this.entries.has(definition.type))
        throw new Error(`event type ${definition.type} is defined twice`);
      for (let version = 1; version < definition.schema; version += 1) {
        if (!definition.upcasters[version]) {
          throw new Error(`event type ${definition.type} has no upcaster from schema ${version}`);
        }
      }
      if (retired.has(definition.type))
        throw new Error(`event type ${definition.type} is both in use and retired`);
      this.entries.set(definition.type, { definition, check: TypeCompiler.Compile(definition.shape) });
    }
  }

  /** The schema version to write. Throws on a type or shape that the registry does not know. */
  schemaOf(event: DomainEvent): number {
    const entry = this.entries.get(event.type);
    if (!entry) throw new Error(`event type ${event.type} is not registered`);
    if (!entry.check.Check(event.data)) {
      const first = entry.check.Errors(event.data).First();
      throw new Error(
        `${event.type} has a wrong shape at ${first?.path ?? '/'}: ${first?.message ?? 'unknown'}`,
      );
    }
    return entry.definition.schema;
  }

  /**
   * Whether readers pass over events of this type: it is retired, or the log's own (`$…`), such as the mark that ends a
   * stream which was deleted for good. Ask before `decode`.
   */
  isPassedOver(type: string): boolean {
    return type.startsWith('$') || this.retired.has(type);
  }

  /** Throws `UnreadableEvent`, and nothing else: what keeps an event from being read lies in the event. */
  decode(raw: RawEvent): RecordedEvent {
    try {
      return this.decoded(raw);
    } catch (error) {
      if (error instanceof UnreadableEvent) throw error;
      // Nested deeper than the stack, for one.
      throw new UnreadableEvent(`cannot be read: ${String(error)}`, raw);
    }
  }

  private decoded(raw: RawEvent): RecordedEvent {
    const entry = this.entries.get(raw.type);
    if (!entry) throw new UnreadableEvent('event type is unknown to this build', raw);
    if (!this.metadata.Check(raw.metadata)) throw new UnreadableEvent('metadata has a wrong shape', raw);
    const metadata: EventMetadata = raw.metadata;
    const data = toSafeJson(upcast(entry.definition, metadata.schema, raw));
    if (!entry.check.Check(data)) {
      const first = entry.check.Errors(data).First();
      throw new UnreadableEvent(`wrong shape at ${first?.path ?? '/'}: ${first?.message ?? 'unknown'}`, raw);
    }
    return {
      id: raw.id,
      stream: raw.stream,
      revision: raw.revision,
      position: raw.position,
      recordedAt: raw.recordedAt,
      metadata: toSafeJson(metadata),
      event: { type: raw.type, data: data as object },
    };
  }
}

function upcast(definition: EventType, written: number, raw: RawEvent): unknown {
  if (written > definition.schema) {
    throw new UnreadableEvent(`schema ${written} is newer than this build's ${definition.schema}`, raw);
  }
  let data = raw.data;
  for (let version = written; version < definition.schema; version += 1) {
    data = lift(definition, version, data, raw);
  }
  return data;
}

/** Upcasters run before the shape is checked, so they meet whatever the log holds. */
function lift(definition: EventType, version: number, data: unknown, raw: RawEvent): unknown {
  try {
    return definition.upcasters[version]?.(data);
  } catch (error) {
    throw new UnreadableEvent(`schema ${version} cannot be lifted: ${String(error)}`, raw);
  }
}
