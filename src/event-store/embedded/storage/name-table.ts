import { LRUCache } from 'lru-cache';
import type { SqlDatabase, SqlStatement } from './database.js';
import { storedBlob, storedInteger } from './stored-columns.js';
import { DamagedLogError, nameChecksum } from './checksum.js';
import { CACHE_BYTES, ENTRY_BYTES, NameCache } from './name-cache.js';

/**
 * Numbers for names, so that a row holds eight bytes instead of a name. Names are BLOBs: text would be
 * cut at a NUL.
 */
export class NameTable {
  private readonly idsByName = new NameCache<bigint>();
  private readonly namesById = new LRUCache<bigint, Buffer>({
    maxSize: CACHE_BYTES,
    sizeCalculation: (name) => ENTRY_BYTES + name.length,
  });
  private readonly selectId: SqlStatement;
  private readonly selectIndexed: SqlStatement;
  private readonly selectName: SqlStatement;
  private readonly selectLastId: SqlStatement;
  private readonly insert: SqlStatement;

  constructor(
    database: SqlDatabase,
    private readonly table: 'streams' | 'event_types',
  ) {
    this.selectId = database.prepare(`SELECT id, crc FROM ${table} WHERE name = ?`);
    // The name's id only, which SQLite answers from the index and does not look for in the table.
    this.selectIndexed = database.prepare(`SELECT id FROM ${table} WHERE name = ?`);
    this.selectName = database.prepare(`SELECT name, crc FROM ${table} WHERE id = ?`);
    this.selectLastId = database.prepare(`SELECT coalesce(max(id), 0) FROM ${table}`);
    this.insert = database.prepare(`INSERT INTO ${table} (id, name, crc) VALUES (?, ?, ?)`);
  }

  find(name: Buffer): bigint | undefined {
    const cached = this.idsByName.get(name);
    if (cached !== undefined) return cached;
    const row = this.selectId.first([name]);
    if (row === undefined) return undefined;
    const place = { table: this.table, key: row[0] };
    const id = storedInteger(row, 0, place);
    this.check(id, name, storedInteger(row, 1, place));
    this.idsByName.set(name, id);
    return id;
  }

  findOrCreate(name: Buffer): bigint {
    const known = this.find(name);
    if (known !== undefined) return known;
    const id = this.lastId() + 1n;
    this.insert.run([id, name, nameChecksum(id, name)]);
    this.idsByName.set(name, id);
    return id;
  }

  nameOf(id: bigint): Buffer {
    const cached = this.namesById.get(id);
    if (cached !== undefined) return cached;
    const name = this.storedName(id);
    this.namesById.set(id, name);
    return name;
  }

  /** Looks in the file, not in what is remembered of it: the id has its name, and the name is found under its id. */
  prove(id: bigint): void {
    const row = this.selectIndexed.first([this.storedName(id)]);
    if (row === undefined || storedInteger(row, 0, { table: this.table, key: id }) !== id) {
      throw new DamagedLogError(`the index of ${this.table} does not point at row ${id}`);
    }
  }

  /** After a rollback ids that were just given out do not exist. */
  forget(): void {
    this.idsByName.clear();
    this.namesById.clear();
  }

  lastId(): bigint {
    const row = this.selectLastId.first([]);
    return row === undefined ? 0n : storedInteger(row, 0, { table: this.table, key: 'last' });
  }

  private storedName(id: bigint): Buffer {
    const row = this.selectName.first([id]);
    if (row === undefined) throw new DamagedLogError(`${this.table} row ${id} is missing`);
    const place = { table: this.table, key: id };
    const name = storedBlob(row, 0, place);
    this.check(id, name, storedInteger(row, 1, place));
    return name;
  }

  private check(id: bigint, name: Buffer, crc: bigint): void {
    if (BigInt(nameChecksum(id, name)) !== crc) throw new DamagedLogError(`${this.table} row ${id}`);
  }
}
