import type { MigrationInterface, QueryRunner } from 'typeorm';

/** How the owner of a set is getting on, written with each renewal of its lease. */
export class OwnerFigures1764640800000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE rollcall.projection_sets ADD COLUMN figures json');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE rollcall.projection_sets DROP COLUMN figures');
  }
}
