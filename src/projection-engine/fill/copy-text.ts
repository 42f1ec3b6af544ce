import type { ColumnType, ProjectedRow } from '../../../projections/projection.js';
import { toTime, UnstorableValue } from '../row-codec.js';

const SPECIAL = /[\\\t\n\r]/;
const EACH_SPECIAL = /[\\\t\n\r]/g;
const ESCAPED: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

/** Makes one line of COPY's text format from a row. The line throws `UnstorableValue`. */
export function copyLine(columns: readonly (readonly [string, ColumnType])[]): (row: ProjectedRow) => string {
  return (row) => {
    const values = row as unknown as Record<string, unknown>;
    let line = '';
    for (const [name, type] of columns) {
      if (line !== '') line += '\t';
      line += copyValue(type, values[name]);
    }
    return `${line}\n`;
  };
}

function copyValue(type: ColumnType, value: unknown): string {
  if (value === null || value === undefined) return '\\N';
  switch (type) {
    case 'json':
      return escaped(JSON.stringify(value));
    case 'timestamptz':
      return toTime(value as number);
    case 'text[]':
      return escaped(arrayLiteral(value as readonly string[]));
    case 'boolean':
    case 'integer':
    case 'bigint':
      return scalar(type, value);
    case 'text':
      return escaped(scalar(type, value));
  }
}

function scalar(type: ColumnType, value: unknown): string {
  switch (typeof value) {
    case 'string':
      return value;
    case 'number':
    case 'bigint':
    case 'boolean':
      return String(value);
    default:
      throw new UnstorableValue(`${String(value)} is no ${type}`);
  }
}

function escaped(text: string): string {
  return SPECIAL.test(text)
    ? text.replace(EACH_SPECIAL, (character) => ESCAPED[character] ?? character)
    : text;
}

function arrayLiteral(elements: readonly string[]): string {
  return `{${elements.map((element) => `"${element.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`).join(',')}}`;
}
