import type { Static, TSchema } from '@sinclair/typebox';

/**
 * One version of an event type. `upcasters[n]` lifts data written with schema `n` to schema `n + 1`;
 * a type whose `schema` is k has upcasters for every version from 1 to k - 1.
 */
export interface EventType<Type extends string = string, Shape extends TSchema = TSchema> {
  readonly type: Type;
  readonly schema: number;
  readonly shape: Shape;
  readonly upcasters: Readonly<Record<number, (data: unknown) => unknown>>;
}

export function eventType<Type extends string, Shape extends TSchema>(
  type: Type,
  schema: number,
  shape: Shape,
  upcasters: Readonly<Record<number, (data: unknown) => unknown>> = {},
): EventType<Type, Shape> {
  return { type, schema, shape, upcasters };
}

/** `{type, data}` of an event type; over a union of event types a discriminated union. */
export type EventOf<T extends EventType> =
  T extends EventType<infer Type, infer Shape>
    ? { readonly type: Type; readonly data: Static<Shape> }
    : never;

export interface DomainEvent {
  readonly type: string;
  readonly data: object;
}
