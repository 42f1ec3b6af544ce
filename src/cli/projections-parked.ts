import { column, fit, plain, widthOf } from '../text/terminal-text.js';
import type { ParkedReport } from '../projection-engine/parked-list.js';
import { type Command, print, UsageError } from './command.js';
import { withParkedList } from './parked-list.js';

const HEADINGS = ['STREAM', 'REVISION', 'EVENT TYPE', 'SINCE', 'ATTEMPTS', 'REASON'] as const;

/** Of one cell. */
const MOST_COLUMNS = 120;

export const projectionsParked: Command = {
  words: ['projections', 'parked'],
  synopsis: '[--json]',
  help: [
    'list the streams with an event that could not be applied, the first such event and the reason;',
    '--json: one JSON object a line, with positions and event ids',
  ],
  options: { json: { type: 'boolean' } },
  async run({ stores }, { positionals, values }) {
    if (positionals.length > 0) throw new UsageError();
    const { databaseUrl } = await stores();
    const parked = await withParkedList(databaseUrl, (list) => list.all());
    if (values['json'] === true) for (const report of parked) print(JSON.stringify(report));
    else print(parked.length === 0 ? 'No stream is parked.' : tableOf(parked));
    return 0;
  },
};

function tableOf(parked: readonly ParkedReport[]): string {
  const rows = [HEADINGS, ...parked.map(cellsOf)];
  const widths = HEADINGS.map((_, index) => Math.max(...rows.map((row) => widthOf(row[index] ?? ''))));
  const lineOf = (row: readonly string[]): string =>
    row.map((cell, index) => column(cell, widths[index] ?? 0)).join('  ');
  return rows.map((row) => lineOf(row).trimEnd()).join('\n');
}

function cellsOf(report: ParkedReport): string[] {
  const { stream, revision, event_type, parked_at, attempts, reason, retry_requested } = report;
  const tried = retry_requested ? `${attempts}, retrying` : String(attempts);
  return [stream, revision, event_type, parked_at, tried, reason].map((text) =>
    fit(plain(text), MOST_COLUMNS),
  );
}
