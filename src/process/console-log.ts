import type { LogLevel } from '../config/config.js';
import type { EmbeddedLog } from '../database/embedded/embedded-log.js';

const WEIGHT: Readonly<Record<LogLevel, number>> = {
  trace: 0,
  debug: 1,
  info: 2,
  warn: 3,
  error: 4,
  silent: 5,
};

/** Short lines for the person who starts Rollcall: what happens on stdout, what needs attention on stderr. */
export function consoleLog(level: LogLevel): EmbeddedLog {
  const line =
    (own: LogLevel, stream: NodeJS.WriteStream) =>
    (text: string): void => {
      if (WEIGHT[own] >= WEIGHT[level]) stream.write(`rollcall: ${text}\n`);
    };
  return {
    debug: line('debug', process.stdout),
    info: line('info', process.stdout),
    warn: line('warn', process.stderr),
    error: line('error', process.stderr),
  };
}
