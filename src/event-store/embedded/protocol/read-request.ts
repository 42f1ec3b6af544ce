import type { FilterOptions } from '../rules/event-filter.js';
import { WireReader } from '../wire/wire-reader.js';
import { invalidArgument } from './grpc-error.js';
import { decodeStreamIdentifier } from './recorded-event.js';

export type Direction = 'forwards' | 'backwards';

export type Origin<At> =
  { readonly kind: 'start' } | { readonly kind: 'end' } | { readonly kind: 'at'; readonly at: At };

export type ReadTarget =
  | { readonly kind: 'stream'; readonly stream: Buffer; readonly from: Origin<bigint> }
  | { readonly kind: 'all'; readonly from: Origin<AllPosition> };

export interface AllPosition {
  readonly commit: bigint;
  readonly prepare: bigint;
}

export interface ReadRequest {
  readonly target: ReadTarget;
  readonly direction: Direction;
  readonly resolveLinks: boolean;
  /** A number of events, or a subscription without end. */
  readonly extent: { readonly kind: 'count'; readonly count: bigint } | { readonly kind: 'subscription' };
  readonly filter: FilterOptions | undefined;
  readonly structuredIds: boolean;
}

export function decodeReadRequest(message: Buffer): ReadRequest {
  const outer = new WireReader(message);
  let options: Buffer = Buffer.alloc(0);
  for (let tag = outer.nextTag(); tag !== 0; tag = outer.nextTag()) {
    if (tag >>> 3 === 1) options = outer.bytes(tag);
    else outer.skip(tag);
  }
  const reader = new WireReader(options);
  let target: ReadTarget | undefined;
  let direction: Direction = 'forwards';
  let resolveLinks = false;
  let extent: ReadRequest['extent'] | undefined;
  let filter: FilterOptions | undefined;
  let structuredIds = false;
  for (let tag = reader.nextTag(); tag !== 0; tag = reader.nextTag()) {
    switch (tag >>> 3) {
      case 1:
        target = decodeStreamOptions(reader.bytes(tag));
        break;
      case 2:
        target = { kind: 'all', from: decodeAllOptions(reader.bytes(tag)) };
        break;
      case 3:
        direction = reader.uint64(tag) === 0n ? 'forwards' : 'backwards';
        break;
      case 4:
        resolveLinks = reader.bool(tag);
        break;
      case 5:
        extent = { kind: 'count', count: reader.uint64(tag) };
        break;
      case 6:
        reader.skip(tag);
        extent = { kind: 'subscription' };
        break;
      case 7:
        filter = decodeFilter(reader.bytes(tag));
        break;
      case 9:
        structuredIds = decodeUuidOption(reader.bytes(tag));
        break;
      default:
        reader.skip(tag);
    }
  }
  if (target === undefined) throw invalidArgument('The stream to read is missing.');
  if (extent === undefined) throw invalidArgument('Neither a count nor a subscription was asked for.');
  return { target, direction, resolveLinks, extent, filter, structuredIds };
}

function decodeStreamOptions(message: Buffer): ReadTarget {
  const reader = new WireReader(message);
  let stream: Buffer = Buffer.alloc(0);
  let from: Origin<bigint> = { kind: 'start' };
  for (let tag = reader.nextTag(); tag !== 0; tag = reader.nextTag()) {
    switch (tag >>> 3) {
      case 1:
        stream = decodeStreamIdentifier(reader.bytes(tag));
        break;
      case 2:
        from = { kind: 'at', at: reader.uint64(tag) };
        break;
      case 4:
        reader.skip(tag);
        from = { kind: 'end' };
        break;
      default:
        reader.skip(tag);
    }
  }
  return { kind: 'stream', stream, from };
}

function decodeAllOptions(message: Buffer): Origin<AllPosition> {
  const reader = new WireReader(message);
  let from: Origin<AllPosition> = { kind: 'start' };
  for (let tag = reader.nextTag(); tag !== 0; tag = reader.nextTag()) {
    switch (tag >>> 3) {
      case 1:
        from = { kind: 'at', at: decodePosition(reader.bytes(tag)) };
        break;
      case 3:
        reader.skip(tag);
        from = { kind: 'end' };
        break;
      default:
        reader.skip(tag);
    }
  }
  return from;
}

function decodePosition(message: Buffer): AllPosition {
  const reader = new WireReader(message);
  let commit = 0n;
  let prepare = 0n;
  for (let tag = reader.nextTag(); tag !== 0; tag = reader.nextTag()) {
    switch (tag >>> 3) {
      case 1:
        commit = reader.uint64(tag);
        break;
      case 2:
        prepare = reader.uint64(tag);
        break;
      default:
        reader.skip(tag);
    }
  }
  return { commit, prepare };
}

function decodeFilter(message: Buffer): FilterOptions {
  const reader = new WireReader(message);
  let on: FilterOptions['on'] | undefined;
  let expression: Buffer = Buffer.alloc(0);
  let window: number | undefined;
  let checkpointIntervalMultiplier = 0;
  for (let tag = reader.nextTag(); tag !== 0; tag = reader.nextTag()) {
    switch (tag >>> 3) {
      case 1:
      case 2:
        on = tag >>> 3 === 1 ? 'stream-name' : 'event-type';
        expression = reader.bytes(tag);
        break;
      case 3:
        window = reader.uint32(tag);
        break;
      case 5:
        checkpointIntervalMultiplier = reader.uint32(tag);
        break;
      default:
        reader.skip(tag);
    }
  }
  if (on === undefined) throw invalidArgument('The filter names neither a stream name nor an event type.');
  return { on, ...decodeExpression(expression), window, checkpointIntervalMultiplier };
}

function decodeExpression(message: Buffer): Pick<FilterOptions, 'regex' | 'prefixes'> {
  const reader = new WireReader(message);
  let regex: string | undefined;
  const prefixes: string[] = [];
  for (let tag = reader.nextTag(); tag !== 0; tag = reader.nextTag()) {
    switch (tag >>> 3) {
      case 1:
        regex = reader.string(tag);
        break;
      case 2:
        prefixes.push(reader.string(tag));
        break;
      default:
        reader.skip(tag);
    }
  }
  return { regex: regex === '' ? undefined : regex, prefixes };
}

/** True when the client wants structured ids (field 1), false for text (field 2). */
function decodeUuidOption(message: Buffer): boolean {
  const reader = new WireReader(message);
  let structured = false;
  for (let tag = reader.nextTag(); tag !== 0; tag = reader.nextTag()) {
    structured = tag >>> 3 === 1;
    reader.skip(tag);
  }
  return structured;
}
