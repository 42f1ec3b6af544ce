/** How much is held in memory and written at once. Spans are bytes of the log, for events as large as they may be. */
export interface EngineLimits {
  readonly batchEvents: number;
  readonly batchSpan: bigint;
  /** The subscription is paused above and resumed below: memory stays bounded while Postgres is slower than the log. */
  readonly inboxHigh: number;
  readonly inboxLow: number;
  readonly inboxHighSpan: bigint;
  readonly inboxLowSpan: bigint;
  /** Of each table, kept in memory as they stand in Postgres. */
  readonly keptRows: number;
}

const MEBIBYTE = 1024n * 1024n;

export const ENGINE_LIMITS: EngineLimits = {
  batchEvents: 2_000,
  batchSpan: 16n * MEBIBYTE,
  inboxHigh: 8_000,
  inboxLow: 2_000,
  inboxHighSpan: 64n * MEBIBYTE,
  inboxLowSpan: 16n * MEBIBYTE,
  keptRows: 20_000,
};
