import type {
  AuditReport,
  Difference,
  ReportedParking,
  ResponsibleEvent,
} from '../projection-engine/audit/report.js';

/** What a person reads who has been woken up by it. */
export function auditReport(report: AuditReport): string {
  const { differences, parked, position, rows_checked, tables, truncated } = report;
  return [
    `Audit of the read models at position ${position ?? '(nothing applied yet)'}`,
    ...tables.map(({ projection, rows }) => `  ${projection.padEnd(24)}${count(rows).padStart(12)} rows`),
    ...differences.flatMap((difference, index) => [
      ...(isSameRow(difference, differences[index - 1]) ? [] : ['', heading(difference)]),
      ...differenceLines(difference),
    ]),
    ...parkedLines(parked),
    '',
    ...(truncated
      ? [`There are more differences than the ${count(differences.length)} that are listed.`]
      : []),
    verdict(report, count(rows_checked)),
  ].join('\n');
}

function verdict({ state, differences, parked }: AuditReport, rows: string): string {
  const live = parked.filter(({ by }) => by === 'live').length;
  if (state === 'clean') {
    const note = live > 0 ? `; of ${live} parked streams only what comes before they were parked` : '';
    return `Clean: all ${rows} rows are what the log says${note}.`;
  }
  const places = differences.length === 1 ? 'one difference' : `${count(differences.length)} differences`;
  return `Different: ${places} in ${rows} rows. What to do: ops/runbooks/audit.md`;
}

function isSameRow(one: Difference, other: Difference | undefined): boolean {
  return other?.projection === one.projection && JSON.stringify(other.key) === JSON.stringify(one.key);
}

function heading({ projection, key }: Difference): string {
  const parts = Object.entries(key).map(([column, value]) => `${column}=${visible(value)}`);
  return `${projection}  ${parts.join(' ')}`;
}

function differenceLines({ field, live, expected, event }: Difference): string[] {
  return [
    `  ${field ?? (live === null ? 'the whole row is missing' : 'the whole row should not be there')}`,
    ...(live === null && field === null ? [] : [`    live      ${shown(live)}`]),
    ...(expected === null && field === null ? [] : [`    expected  ${shown(expected)}`]),
    ...(event ? eventLines(event) : ['    event     none: nothing in the log can have made it']),
  ];
}

function eventLines(event: ResponsibleEvent): string[] {
  const { id, type, stream, revision, position, occurred_at, recorded_at, actor } = event;
  return [
    `    event     ${visible(type)}, revision ${revision} of ${visible(stream)}, position ${position}`,
    `              occurred ${visible(occurred_at)}, recorded ${recorded_at}, by ${visible(actor)}, id ${visible(id)}`,
  ];
}

function parkedLines(parked: readonly ReportedParking[]): string[] {
  return parked.flatMap(({ by, stream, revision, position, event_type, reason }) => [
    '',
    by === 'live'
      ? `parked  ${visible(stream)} from revision ${revision} (position ${position}) on is in no read model`
      : `cannot be folded  ${visible(stream)} from revision ${revision} (position ${position}) on, though the read models hold it`,
    `  ${visible(event_type)}: ${visible(reason)}`,
  ]);
}

function shown(value: unknown): string {
  return visible(JSON.stringify(value));
}

/** What a terminal would obey or not show is written out, so that two texts that differ look different. */
function visible(text: string): string {
  return text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) => {
    return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
  });
}

function count(number: number): string {
  return number.toLocaleString('en-US');
}
