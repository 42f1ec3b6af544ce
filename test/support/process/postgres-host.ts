/**
 * A program that runs an embedded Postgres for the tests, so that they can kill it. Arguments: directory, then
 * `durable` or `volatile`, the port (0: a free one),
 * then shelters. It stops with its parent, however that ends.
 */
import { EmbeddedPostgres } from '../../../src/database/embedded/embedded-postgres.js';

const say = (line: string): void => void process.stderr.write(`${line}\n`);
const [, , dir = '', durability, port, ...shelters] = process.argv;

const postgres = await EmbeddedPostgres.start({
  dir,
  durable: durability === 'durable',
  ...(port === '0' ? {} : { port: Number(port) }),
  log: { debug: say, info: say, warn: say, error: say },
  ...(shelters.length > 0 ? { shelters } : {}),
});
const stop = (): void => void postgres.stop().then(() => process.exit(0));
process.on('disconnect', stop);
process.on('SIGTERM', stop);
process.on('SIGINT', stop);
process.send?.({ type: 'ready', url: postgres.url });
