import { projectionSet } from '../../projections/projection-set.js';
import { AuditRegister } from '../audits/audit-register.js';
import { AuditStopped, messageOf, runAudit } from '../audits/audit-run.js';
import { Database } from '../database/database.js';
import { migrate } from '../database/migrate.js';
import { auditedProjections, type AuditRequest } from '../projection-engine/audit/audit.js';
import { ID_PREFIX, parseId } from '../ids.js';
import { newUuid } from '../uuid.js';
import { auditReport } from './audit-report.js';
import { AuditProgressView } from './audit-progress.js';
import { type Command, type CommandArguments, type CommandContext, print, UsageError } from './command.js';

const NAMES = projectionSet.map(({ name }) => name);

export const audit: Command = {
  words: ['audit'],
  synopsis: '[projection…] [--session <id>] [--json]',
  help: [
    'compare the read models with the log, also while a server runs, and name the event behind each difference;',
    `projections: ${NAMES.join(', ')};`,
    '--session: only the rows of this session and of all below it; --json: the report as JSON;',
    'exit status 0: they are what the log says, 1: they are not, 2: it could not be found out',
  ],
  options: { session: { type: 'string' }, json: { type: 'boolean' } },
  async run(context, args) {
    const request = requestOf(args);
    try {
      return await carryOut(context, request, args.values['json'] === true);
    } catch (error) {
      process.stderr.write(`rollcall: the audit could not run: ${messageOf(error)}\n`);
      return 2;
    }
  },
};

function requestOf({ positionals, values }: CommandArguments): AuditRequest {
  const unknown = positionals.find((name) => !NAMES.includes(name));
  if (unknown !== undefined) throw new UsageError(`there is no projection ${JSON.stringify(unknown)}`);
  const { session: given } = values;
  const session = typeof given === 'string' ? parseId('session', given) : null;
  if (typeof given === 'string' && session === null)
    throw new UsageError(`${JSON.stringify(given)} is no id of a session`);
  const request = { projections: positionals.length > 0 ? positionals : null, session };
  if (auditedProjections(projectionSet, request).length === 0)
    throw new UsageError(`rows of ${positionals.join(', ')} belong to no session`);
  return request;
}

async function carryOut(
  { config, signal, stores }: CommandContext,
  request: AuditRequest,
  asJson: boolean,
): Promise<number> {
  const place = { ...(await stores()), streamPrefix: config.streamPrefix };
  signal.throwIfAborted();
  await migrate(place.databaseUrl);
  const order = {
    id: `${ID_PREFIX.audit}_${newUuid().replaceAll('-', '')}`,
    requestedBy: 'command line',
    bodyHash: null,
    projections: auditedProjections(projectionSet, request).map(({ name }) => name),
    session: request.session,
  };
  const database = new Database(place.databaseUrl, 1);
  try {
    const register = new AuditRegister(database);
    if (!(await register.begin(order))) throw new Error(`another audit runs: ${await register.running()}`);
  } finally {
    await database.close();
  }
  const progress = new AuditProgressView();
  const stopped = new AbortController();
  const stop = (): void => stopped.abort(new AuditStopped('cancelled', 'it was cancelled'));
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop);
  try {
    const report = await runAudit(order, place, {
      signal: stopped.signal,
      onProgress: (made) => progress.show(made),
    });
    progress.end();
    print(asJson ? JSON.stringify({ id: order.id, ...report }, null, 2) : auditReport(report));
    return report.state === 'clean' ? 0 : 1;
  } finally {
    progress.end();
    signal.removeEventListener('abort', stop);
  }
}
