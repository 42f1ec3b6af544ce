/**
 * A program that runs an embedded event store node for the tests, so that they can kill it. Arguments: directory,
 * then the port (0: a free one). It stops with its parent, however that ends.
 */
import { EmbeddedEventStore } from '../../../src/event-store/embedded/index.js';

const [, , dir = '', port = '0'] = process.argv;

const node = await EmbeddedEventStore.start({ dir, port: Number(port) });
const stop = (): void => void node.close().then(() => process.exit(0));
process.on('disconnect', stop);
process.on('SIGTERM', stop);
process.on('SIGINT', stop);
process.send?.({ type: 'ready', url: node.connectionString, port: node.port });
