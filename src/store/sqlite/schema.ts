import type { DatabaseSync } from 'node:sqlite'
import { expectVersion, MIGRATIONS, newestVersion, statementsFrom, type Say } from '../migrations.ts'
import { StoreError } from '../store-error.ts'
import { expectReadable } from './damage.ts'
import { inTransaction } from './engine.ts'

/** Marks a file as a store of callwatch, so that databases of other programs are never written to. "calw" in ASCII. */
const APPLICATION_ID = 0x63616c77

/**
 * Migrates an opened database to this program's schema, completely or not at all.
 *
 * @throws {StoreError} refused: the file is another program's or a newer callwatch's, or damaged
 */
export function migrate(
  db: DatabaseSync,
  path: string,
  migrations = MIGRATIONS.sqlite,
  say: Say = () => undefined,
): void {
  const newest = newestVersion(migrations)
  const version = expectSchema(db, path, { migrations, oldest: 0 })
  expectReadable(db, path)
  if (version === newest) return
  inTransaction(db, () => {
    db.exec(statementsFrom(version, migrations, path, say))
    db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${newest}`)
  })
}

/**
 * Makes sure that an opened database can be read without a migration, and returns the version of its schema; 0 if it is empty.
 *
 * @param accepted `oldest`: the oldest version that will do; default: the newest
 * @throws {StoreError} refused: as for {@link migrate}, except for damage, or the database must be migrated by a daemon first
 */
export function expectSchema(
  db: DatabaseSync,
  path: string,
  { migrations = MIGRATIONS.sqlite, oldest = newestVersion(migrations) } = {},
): number {
  const version = readPragma(db, 'user_version')
  const isEmpty = db.prepare('SELECT count(*) AS n FROM sqlite_schema').get()?.['n'] === 0
  if (!isEmpty && readPragma(db, 'application_id') !== APPLICATION_ID) {
    throw new StoreError(
      'refused',
      `${path} is no store of callwatch: another program's database, or one of an unreleased version; name another file in store.path`,
    )
  }
  expectVersion(path, version, oldest, newestVersion(migrations))
  return version
}

function readPragma(db: DatabaseSync, name: string): number {
  return Number(db.prepare(`PRAGMA ${name}`).get()?.[name])
}
