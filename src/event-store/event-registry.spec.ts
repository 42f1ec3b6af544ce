import { describe, expect, it } from '@jest/globals';
import { Type } from '@sinclair/typebox';
import { EventRegistry, UnreadableEvent } from './event-registry.js';
import { eventType } from './event-type.js';
import type { RawEvent } from './recorded-event.js';

const shape = Type.Object({ name: Type.String(), size: Type.Integer() }, { additionalProperties: false });
const sized = eventType('Sized', 3, shape, {
  1: (data) => ({ name: data }),
  2: (data) => ({ ...(data as object), size: 0 }),
});
const none = new Set<string>();
const registry = new EventRegistry([sized], none);

const metadata = (schema: number): Record<string, unknown> => ({
  schema,
  $correlationId: 'c',
  $causationId: 'c',
  actor: 'anonymous',
  occurred_at: '2026-01-01T00:00:00.000Z',
});

function raw(stated: Partial<RawEvent>): RawEvent {
  return {
    id: 'id',
    type: 'Sized',
    stream: 'rollcall.session-x',
    revision: 7n,
    position: 70n,
    recordedAt: 1_000,
    data: { name: 'n', size: 1 },
    metadata: metadata(3),
    ...stated,
  };
}

describe('reading', () => {
  it('gives events of this version back as they are', () => {
    const event = registry.decode(raw({}));
    expect(event).toMatchObject({
      stream: 'rollcall.session-x',
      revision: 7n,
      position: 70n,
      recordedAt: 1_000,
    });
    expect(event.event).toEqual({ type: 'Sized', data: { name: 'n', size: 1 } });
  });

  it('lifts old versions step by step', () => {
    const lifted = (schema: number, data: unknown): unknown =>
      registry.decode(raw({ metadata: metadata(schema), data })).event.data;
    expect(lifted(1, 'old')).toEqual({ name: 'old', size: 0 });
    expect(lifted(2, { name: 'newer' })).toEqual({ name: 'newer', size: 0 });
  });

  it('makes text safe to show, in data and metadata', () => {
    const event = registry.decode(
      raw({ data: { name: 'a\u0000\ud83d', size: 1 }, metadata: { ...metadata(3), actor: 'user:\u0000' } }),
    );
    expect(event.event.data).toEqual({ name: 'a\uFFFD\uFFFD', size: 1 });
    expect(event.metadata.actor).toBe('user:\uFFFD');
  });

  it.each<[string, Partial<RawEvent>, RegExp]>([
    ['an unknown type', { type: 'Sliced' }, /unknown to this build/],
    ['a newer schema', { metadata: metadata(4) }, /schema 4 is newer than this build's 3/],
    ['a wrong shape', { data: { name: 'n', size: 'x' } }, /wrong shape at \/size/],
    ['a surplus member', { data: { name: 'n', size: 1, more: 1 } }, /wrong shape at \/more/],
    ['no data', { data: null }, /wrong shape/],
    ['bytes instead of JSON', { data: new Uint8Array([1]) }, /wrong shape/],
    ['foreign metadata', { metadata: { who: 'else' } }, /metadata has a wrong shape/],
    ['no metadata', { metadata: undefined }, /metadata has a wrong shape/],
    ['schema 0', { metadata: metadata(0) }, /metadata has a wrong shape/],
    ['what an old version cannot be lifted to', { metadata: metadata(1), data: 7 }, /wrong shape at \/name/],
  ])('refuses %s', (_what, stated, reason) => {
    const read = (): unknown => registry.decode(raw(stated));
    expect(read).toThrow(UnreadableEvent);
    expect(read).toThrow(reason);
  });

  it('refuses what is nested deeper than the stack', () => {
    const open = eventType('Open', 1, Type.Object({ deep: Type.Unknown() }));
    const depth = 100_000;
    const data: unknown = JSON.parse(`{"deep":${'['.repeat(depth)}${']'.repeat(depth)}}`);
    const read = (): unknown =>
      new EventRegistry([open], none).decode(raw({ type: 'Open', data, metadata: metadata(1) }));
    expect(read).toThrow(UnreadableEvent);
  });

  it('refuses what an upcaster throws on', () => {
    const fragile = new EventRegistry(
      [
        eventType('Sized', 2, shape, {
          1: (data) => ({ name: (data as { a: { b: string } }).a.b, size: 1 }),
        }),
      ],
      none,
    );
    expect(() => fragile.decode(raw({ metadata: metadata(1), data: {} }))).toThrow(UnreadableEvent);
  });
});

describe('what means nothing any more', () => {
  it('is told from what is unknown, and is not written', () => {
    const later = new EventRegistry([sized], new Set(['Sliced']));
    const passedOver = ['Sliced', '$streamDeleted', 'Sized', 'Diced'].map((type) => later.isPassedOver(type));
    expect(passedOver).toEqual([true, true, false, false]);
    expect(() => later.schemaOf({ type: 'Sliced', data: {} })).toThrow(/not registered/);
  });
});

describe('writing', () => {
  it('states the version, and refuses what it does not know', () => {
    expect(registry.schemaOf({ type: 'Sized', data: { name: 'n', size: 1 } })).toBe(3);
    expect(() => registry.schemaOf({ type: 'Sliced', data: {} })).toThrow(/not registered/);
    expect(() => registry.schemaOf({ type: 'Sized', data: { name: 'n' } })).toThrow(/wrong shape at \/size/);
  });
});

describe('definitions', () => {
  it('are refused twice, or with a gap in their upcasters', () => {
    expect(() => new EventRegistry([sized, sized], none)).toThrow(/defined twice/);
    expect(() => new EventRegistry([eventType('Sized', 3, shape, { 1: (data) => data })], none)).toThrow(
      /no upcaster from schema 2/,
    );
    expect(() => new EventRegistry([sized], new Set(['Sized']))).toThrow(/both in use and retired/);
  });
});
