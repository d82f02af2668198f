import type { DatabaseSync } from 'node:sqlite'
import { refuseNewer, refuseOlder } from '../schema-version.ts'
import { StoreError } from '../store-error.ts'
import { MIGRATIONS, migrationLine, type Say } from '../migrations.ts'
import { expectReadable } from './damage.ts'

/** Marks a file as ours, so that another program's database is never written to: "cwat" in ASCII. */
const APPLICATION_ID = 0x63776174

/**
 * Migrates an opened database to this program's schema, whole or not at all.
 *
 * @throws {StoreError} refused: another program's file, a newer callwatch's, or a damaged one
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
 * Makes sure that an opened database can be read as it is.
 *
 * @throws {StoreError} refused: as for {@link migrate} but for damage, and one that this program's daemon has not migrated yet
 */
export function expectSchema(db: DatabaseSync, path: string, migrations: readonly string[] = MIGRATIONS.sqlite): void {
  refuseOlder(path, checkSchema(db, path, migrations.length), migrations.length)
}

/** The version of a database's schema, 0 of an empty one; none that is newer than `newest`. */
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
