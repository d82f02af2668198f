import type { DatabaseSync } from 'node:sqlite'
import { refuseNewer, refuseOlder, MIGRATIONS, migrationLine, type Say } from '../migrations.ts'
import { StoreError } from '../store-error.ts'
import { expectReadable } from './damage.ts'

/** Marks a file as a store of callwatch, so that databases of other programs are never written to. "cwat" in ASCII. */
const APPLICATION_ID = 0x63776174

/**
 * Migrates an opened database to this program's schema, completely or not at all.
 *
 * @throws {StoreError} refused: the file is another program's or a newer callwatch's, or damaged
 */
export function migrate(
  db: DatabaseSync,
  path: string,
  migrations: readonly string[] = MIGRATIONS.sqlite,
  say: Say = () => undefined,
): void {
  const version = checkSchema(db, path, migrations.length)
  expectReadable(db, path)
  if (version === migrations.length) return
  db.exec('BEGIN IMMEDIATE')
  try {
    for (const [i, migration] of migrations.entries()) {
      if (i < version) continue
      if (version > 0) say(migrationLine(path, i, migrations.length))
      db.exec(migration)
    }
    db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${migrations.length}; COMMIT`)
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
}

/**
 * Makes sure that an opened database can be read without a migration.
 *
 * @throws {StoreError} refused: as for {@link migrate}, except for damage, or the database must be migrated by a daemon first
 */
export function expectSchema(db: DatabaseSync, path: string, migrations: readonly string[] = MIGRATIONS.sqlite): void {
  refuseOlder(path, checkSchema(db, path, migrations.length), migrations.length)
}

/** The version of a database's schema; 0 if it is empty. Throws if it is newer than `newest`. */
function checkSchema(db: DatabaseSync, path: string, newest: number): number {
  const version = readPragma(db, 'user_version')
  const isEmpty = db.prepare('SELECT count(*) AS n FROM sqlite_schema').get()?.['n'] === 0
  if (!isEmpty && readPragma(db, 'application_id') !== APPLICATION_ID) {
    throw new StoreError(
      'refused',
      `${path} is no store of callwatch: another program's database, or one of an unreleased version; name another file in store.path`,
    )
  }
  refuseNewer(path, version, newest)
  return version
}

function readPragma(db: DatabaseSync, name: string): number {
  return Number(db.prepare(`PRAGMA ${name}`).get()?.[name])
}
