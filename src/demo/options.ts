import { parseArgs } from 'node:util';
import { DemoError } from './demo-error.js';

export interface DemoOptions {
  /** Ends without a slash. */
  readonly url: string;
  /** Recorded seconds per second; infinite when the server alone sets the pace. */
  readonly speed: number;
  /** Path of the recorded log; null: the one that comes with Rollcall. */
  readonly log: string | null;
  /** Sent as X-Forwarded-Email, for a server with ROLLCALL_AUTH=header. */
  readonly user: string | null;
  readonly help: boolean;
}

export const USAGE = `Plays a recorded working day of a team of agents on a running Rollcall, then prints its rail.

  npm run demo -- [options]

  --url <address>   of the server (default http://127.0.0.1:6767, or HOST and PORT of the environment)
  --speed <number>  1 is the recorded pace, long pauses cut short; 10 is ten times that
                    (default: as fast as the server answers, a few seconds)
  --log <file>      another recorded log (NDJSON)
  --user <e-mail>   the user, for a server with ROLLCALL_AUTH=header
  --help            this text

Every run makes a new tree of sessions; nothing that was there before is touched.
`;

/** The command line after the script's name. Throws `DemoError` with exit code 2. */
export function parseOptions(args: readonly string[]): DemoOptions {
  const { values } = parse(args);
  return {
    url: urlIn(values.url),
    speed: speedIn(values.speed),
    log: values.log ?? null,
    user: values.user ?? null,
    help: values.help,
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        url: { type: 'string', default: defaultUrl(process.env) },
        speed: { type: 'string', default: 'quick' },
        log: { type: 'string' },
        user: { type: 'string' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
  } catch (error) {
    const { message } = error as { readonly message: string };
    const [reason] = message.split(/\. |\n/);
    throw new DemoError(`${reason}; see npm run demo -- --help`, 2);
  }
}

/** Where `npm start` with the same environment listens. */
export function defaultUrl({ HOST, PORT }: NodeJS.ProcessEnv): string {
  const host = HOST || '127.0.0.1';
  return `http://${host.includes(':') ? `[${host}]` : host}:${PORT || '6767'}`;
}

function urlIn(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new DemoError(`--url ${text} is not an address such as http://127.0.0.1:6767`, 2);
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}

function speedIn(text: string): number {
  if (text === 'quick') return Infinity;
  const speed = /^\d+(\.\d+)?$/.test(text) ? Number(text) : 0;
  if (speed > 0) return speed;
  throw new DemoError(`--speed ${text} is not a number above 0, such as 1 or 10`, 2);
}
