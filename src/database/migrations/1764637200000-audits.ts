import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Audits of the read models: one at a time over all nodes, under a lease by this database's clock. */
export class Audits1764637200000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE rollcall.audits (
        id           text PRIMARY KEY,
        state        text NOT NULL CHECK (state IN ('running', 'clean', 'different', 'failed', 'cancelled')),
        requested_by text NOT NULL,
        body_hash    text,
        projections  text[] NOT NULL,
        session_id   text,
        progress     json,
        report       json,
        error        text,
        requested_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        renewed_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
        finished_at  timestamptz
      )`);
    await runner.query(`CREATE UNIQUE INDEX one_running ON rollcall.audits ((true)) WHERE state = 'running'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE rollcall.audits');
  }
}
