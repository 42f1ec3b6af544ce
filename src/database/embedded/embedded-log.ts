/** Where the embedded parts say what they do. Lifecycle is info, what a person should look at is warn. */
export interface EmbeddedLog {
  debug(line: string): void;
  info(line: string): void;
  warn(line: string): void;
  error(line: string): void;
}

/** A failure that the user can act on: one sentence, shown without a stack. */
export class EmbeddedPostgresError extends Error {}
