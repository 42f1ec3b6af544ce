import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Parked streams are retried on request, and once for each build that takes a set over. */
export class ParkedRetries1764633600000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE rollcall.projection_sets ADD COLUMN build text');
    await runner.query(`
      ALTER TABLE rollcall.parked_streams
        ADD COLUMN attempts integer NOT NULL DEFAULT 1,
        ADD COLUMN retry_requested_at timestamptz,
        ADD COLUMN stream_key text`);
    // A name may be longer than what an index takes, and names are what the log gives.
    await runner.query(`
      UPDATE rollcall.parked_streams SET stream_key = encode(sha256(convert_to(stream, 'UTF8')), 'hex')`);
    await runner.query(`
      ALTER TABLE rollcall.parked_streams
        DROP CONSTRAINT parked_streams_pkey, ADD PRIMARY KEY (set_version, stream_key)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE rollcall.parked_streams
        DROP CONSTRAINT parked_streams_pkey, ADD PRIMARY KEY (set_version, stream),
        DROP COLUMN stream_key, DROP COLUMN retry_requested_at, DROP COLUMN attempts`);
    await runner.query('ALTER TABLE rollcall.projection_sets DROP COLUMN build');
  }
}
