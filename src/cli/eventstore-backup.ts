import { join, resolve } from 'node:path';
import { backupEmbeddedEventStore } from '../event-store/embedded/backup.js';
import { type Command, print, UsageError } from './command.js';

export const eventstoreBackup: Command = {
  words: ['eventstore', 'backup'],
  synopsis: '<file>',
  help: [
    'copy the embedded event store, also while it runs, into a file that does not exist yet;',
    'to restore, put the copy as eventstore.db into an empty <data directory>/eventstore',
  ],
  options: {},
  async run({ config: { dataDir, eventStoreUrl }, signal }, { positionals: [file, ...surplus] }) {
    if (file === undefined || surplus.length > 0) throw new UsageError();
    if (eventStoreUrl !== null)
      throw new Error('EVENTSTORE_URL names a server of its own: back it up with its own means');
    const { events, position } = await backupEmbeddedEventStore(
      join(dataDir, 'eventstore'),
      resolve(file),
      signal,
    );
    print(`${events} events up to position ${position} are in ${file}.`);
    return 0;
  },
};
