import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What lies outside the sets: who owns each set, the streams that are parked in it, and folded streams. */
export class Operations1764547200000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE rollcall.projection_sets (
        version    text PRIMARY KEY,
        owner      text,
        epoch      bigint NOT NULL,
        renewed_at timestamptz NOT NULL
      )`);
    await runner.query(`
      CREATE TABLE rollcall.parked_streams (
        set_version text NOT NULL,
        stream      text NOT NULL,
        revision    bigint NOT NULL,
        position    bigint NOT NULL,
        event_id    text NOT NULL,
        event_type  text NOT NULL,
        reason      text NOT NULL,
        parked_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
        PRIMARY KEY (set_version, stream)
      )`);
    await runner.query(`
      CREATE TABLE rollcall.stream_snapshots (
        stream   text PRIMARY KEY,
        log_id   text NOT NULL,
        version  integer NOT NULL,
        revision bigint NOT NULL,
        position bigint NOT NULL,
        state    json NOT NULL
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE rollcall.stream_snapshots');
    await runner.query('DROP TABLE rollcall.parked_streams');
    await runner.query('DROP TABLE rollcall.projection_sets');
  }
}
