import type { CopySource, CopyDestination } from './copy.ts'
import type { Say } from './migrations.ts'
import { openSqliteBeside, openSqliteDaemonStore } from './open-sqlite.ts'
import { readerOf, type StoreReader } from './reader.ts'
import type { Database } from './sql.ts'
import { openExisting } from './sqlite/open-database.ts'
import { expectLocal } from './sqlite/network-path.ts'
import { openSqliteSource, openSqliteDestination } from './sqlite/open-copy.ts'
import { StoreError } from './store-error.ts'
import { commandStoreOn } from './store-on.ts'
import type { CommandStore, Store } from './store.ts'

/** The address of a store: the file of a single daemon, or a PostgreSQL database that several daemons share. */
export type StoreAddress = StoreFile | { url: string }

type StoreFile = { path: string; /** Whether it may be on a network or FUSE file system. */ pathOnNetwork?: boolean }

/** The same for a daemon. */
export type DaemonStoreAddress =
  | StoreFile
  | { url: string; /** How long a daemon lives without renewing its lease (seconds). */ lease: number }

// Only here does the address select the implementation. PostgreSQL's is loaded only if it is used, because it would make the start
// of every command a tenth longer.

/**
 * Opens the store of a daemon.
 *
 * @param receivers all configured receivers; whatever waits for others is removed
 * @param say logs the progress of a migration
 * @throws {StoreError} refused: it is damaged, of another program or of a newer callwatch, or the database refuses this user;
 * unavailable: it is in use, full or cannot be reached now, so a later start may succeed
 */
export async function openStore(
  address: DaemonStoreAddress,
  receivers: readonly string[],
  say: Say = () => undefined,
): Promise<Store> {
  if ('path' in address) return openSqliteDaemonStore({ ...address, receivers }, say)
  const { openPostgresStore } = await import('./open-postgres.ts')
  return openPostgresStore({ url: address.url, lease: address.lease, receivers, say })
}

/**
 * Opens a store while daemons may be using it, without writing.
 *
 * @throws {StoreError} refused: there is none, or it is not ours, of another schema, or damaged
 */
export async function openReader(address: StoreAddress): Promise<StoreReader & AsyncDisposable> {
  return disposable(readerOf(await openBeside(address, true)))
}

/**
 * Opens a store to change something in it, while daemons may be using it.
 *
 * @throws {StoreError} refused: as for {@link openReader}
 */
export async function openForCommand(address: StoreAddress): Promise<CommandStore & AsyncDisposable> {
  return disposable(commandStoreOn(await openBeside(address, false)))
}

async function openBeside(address: StoreAddress, readOnly: boolean): Promise<Database> {
  if ('path' in address) return openSqliteBeside(address.path, { readOnly })
  const { openPostgresBeside } = await import('./open-postgres.ts')
  return openPostgresBeside(address.url, { readOnly })
}

/** Whether a store can be used, with a sentence about it. Checks a whole file for damage. A database only has to answer. */
export async function probeStore(address: StoreAddress): Promise<{ works: boolean; message: string }> {
  try {
    if ('path' in address) {
      if (address.pathOnNetwork !== true) expectLocal(address.path)
      openExisting(address.path, { readOnly: true, checked: true, oldest: 1 }).close()
      return { works: true, message: `${address.path} is not damaged` }
    }
    const { connect } = await import('./postgres/connection.ts')
    await using connection = await connect(address.url)
    return { works: true, message: `${connection.place} answers` }
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    return { works: false, message: error.message }
  }
}

/**
 * Opens a store to copy it. No daemon can open it meanwhile.
 *
 * @throws {StoreError} refused: there is none, a daemon uses it, it is not ours, of another schema, or damaged
 */
export async function openCopySource(address: StoreAddress): Promise<CopySource & AsyncDisposable> {
  if ('path' in address) return disposable(openSqliteSource(address.path))
  const { openPostgresSource } = await import('./postgres/open-copy.ts')
  return disposable(await openPostgresSource(address.url))
}

/**
 * Opens an empty store to copy another one into it. No daemon can open it meanwhile.
 *
 * @throws {StoreError} refused: it is not empty, a daemon uses it, it is not ours, or of another schema
 */
export async function openCopyDestination(address: StoreAddress): Promise<CopyDestination & AsyncDisposable> {
  if ('path' in address) return disposable(await openSqliteDestination(address.path))
  const { openPostgresDestination } = await import('./postgres/open-copy.ts')
  return disposable(await openPostgresDestination(address.url))
}

/** For `await using`, which closes it. */
function disposable<Opened extends { close: () => Promise<void> }>(opened: Opened): Opened & AsyncDisposable {
  return Object.assign(opened, { [Symbol.asyncDispose]: opened.close })
}
