import { Injectable } from '@nestjs/common';
import type { ArgumentMetadata, PipeTransform } from '@nestjs/common';
import { validateSync } from 'class-validator';
import type { ValidatorOptions } from 'class-validator';
import { unprocessable } from '../errors.js';
import type { DetailEntry } from '../errors.js';
import { bindObject } from './bind.js';
import type { Source } from './bind.js';
import { addDetails } from './detail.js';
import { planOf } from './dto-plan.js';
import type { DtoClass } from './dto-plan.js';
import { echo } from './echo.js';
import { FaultList } from './fault-list.js';

const OPTIONS: ValidatorOptions = { forbidUnknownValues: false, validationError: { target: false } };

/** Bodies and query strings into validated DTOs, or 422 with a list of what is wrong (contract/sessions.md 1.5). */
@Injectable()
export class DtoPipe implements PipeTransform {
  transform(value: unknown, { type, metatype, data }: ArgumentMetadata): unknown {
    if (type !== 'body' && type !== 'query') return value;
    if (!isDto(metatype)) return data === undefined ? value : onlyOnce(value, type, data);
    return toDto(metatype, value, type);
  }
}

export function toDto(dto: DtoClass, value: unknown, source: Source): object {
  const given = value === undefined && (source === 'query' || planOf(dto).isOptional) ? {} : value;
  if (given === undefined || given === null) throw unprocessable([missingBody(source)]);
  const faults = new FaultList();
  const binding = { source, faults };
  const instance = bindObject(dto, given, [source], binding);
  if (instance !== null) addDetails(validateSync(instance, OPTIONS), [source], given, binding);
  if (instance === null || faults.entries.length > 0) throw unprocessable(faults.entries);
  return instance;
}

function missingBody(source: Source): DetailEntry {
  return { type: 'missing', loc: [source], msg: 'Field required', input: null };
}

/** A single parameter taken by name, `@Query('wait')`: a repeated one arrives as a list, which no handler expects. */
function onlyOnce(value: unknown, source: Source, name: string): unknown {
  if (source !== 'query' || !Array.isArray(value)) return value;
  const msg = 'Input should be a valid string';
  throw unprocessable([{ type: 'string_type', loc: [source, name], msg, input: echo(value) }]);
}

const BUILT_IN = new Set<unknown>([String, Boolean, Number, Array, Object, Buffer, Date]);

function isDto(metatype: ArgumentMetadata['metatype']): metatype is DtoClass {
  return metatype !== undefined && !BUILT_IN.has(metatype);
}
