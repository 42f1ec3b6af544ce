import { Type } from '@sinclair/typebox';
import { TypeCompiler } from '@sinclair/typebox/compiler';
import type { RawEvent } from './recorded-event.js';

const decimal = Type.String({ pattern: '^(0|[1-9][0-9]{0,18})$' });

const lineShape = Type.Object({
  type: Type.String({ minLength: 1 }),
  schema: Type.Optional(Type.Integer({ minimum: 1 })),
  stream: Type.String({ minLength: 1 }),
  revision: decimal,
  position: decimal,
  id: Type.String({ minLength: 1 }),
  recorded_at: Type.String(),
  data: Type.Unknown(),
  metadata: Type.Unknown(),
});

const check = TypeCompiler.Compile(lineShape);

/** The file is not a recorded log; the message names the line. */
export class MalformedRecording extends Error {
  constructor(line: number, reason: string) {
    super(`line ${line}: ${reason}`);
    this.name = 'MalformedRecording';
  }
}

/** One event as a line of a recorded log, without the line's end. Numbers of 64 bits are decimal strings. */
export function toEventLine(raw: RawEvent): string {
  const schema = schemaIn(raw.metadata);
  return JSON.stringify({
    type: raw.type,
    ...(schema === null ? {} : { schema }),
    stream: raw.stream,
    revision: raw.revision.toString(),
    position: raw.position.toString(),
    id: raw.id,
    recorded_at: new Date(raw.recordedAt).toISOString(),
    data: raw.data,
    metadata: raw.metadata,
  });
}

/** The events of a recorded log (NDJSON, in log order), not yet looked at by the registry. Throws `MalformedRecording`. */
export function parseEventLines(text: string): RawEvent[] {
  const events = text.split('\n').flatMap((line, index) => (line === '' ? [] : parseLine(line, index + 1)));
  events.forEach((event, index) => {
    const before = events[index - 1];
    if (before && before.position > event.position)
      throw new MalformedRecording(index + 1, `position ${event.position} follows ${before.position}`);
  });
  return events;
}

function parseLine(line: string, number: number): RawEvent {
  const parsed = parseJson(line, number);
  if (!check.Check(parsed)) {
    const error = check.Errors(parsed).First();
    throw new MalformedRecording(number, `${error?.path ?? '/'}: ${error?.message ?? 'unexpected value'}`);
  }
  const recordedAt = Date.parse(parsed.recorded_at);
  if (Number.isNaN(recordedAt)) throw new MalformedRecording(number, '/recorded_at: not a time');
  const { type, stream, id, data, metadata } = parsed;
  const [revision, position] = [BigInt(parsed.revision), BigInt(parsed.position)];
  return { type, stream, id, data, metadata, revision, position, recordedAt };
}

function parseJson(line: string, number: number): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new MalformedRecording(number, 'not JSON');
  }
}

function schemaIn(metadata: unknown): number | null {
  const schema = (metadata as { readonly schema?: unknown } | null)?.schema;
  return typeof schema === 'number' ? schema : null;
}
