import { openReadOnly } from './sqlite/open-read-only.ts'
import { openSilences } from './sqlite/open-silences.ts'
import { openSqliteStore } from './sqlite/sqlite-store.ts'
import type { SilenceBook } from './silence-book.ts'
import { StoreError, type Store } from './store.ts'
import type { StoreReader } from './store-reader.ts'

/** Which store: a file of one daemon's own, or a PostgreSQL database that several share (the lease in seconds). */
export type StoreAddress = { path: string } | { url: string; lease: number }

// The one place where an address decides which of the implementations it is.

/**
 * Opens the store of a daemon.
 *
 * @param notifiers all that there are; what waits for any other is removed, since nobody will ever send it
 * @throws {StoreError} refused: it is in use, damaged, not ours, or of a newer callwatch
 */
export async function openStore(address: StoreAddress, notifiers: readonly string[]): Promise<Store> {
  if ('path' in address) return openSqliteStore({ path: address.path, notifiers })
  throw notYet()
}

/**
 * Opens a store beside the daemons that may be using it, without writing.
 *
 * @throws {StoreError} refused: there is none, or it is not ours, of another schema, or damaged
 */
export async function openReader(address: StoreAddress): Promise<StoreReader> {
  if ('path' in address) return openReadOnly(address.path)
  throw notYet()
}

/**
 * Opens a store for its silences alone, beside the daemons that may be using it.
 *
 * @throws {StoreError} refused: as for {@link openReader}
 */
export async function openSilenceBook(address: StoreAddress): Promise<SilenceBook> {
  if ('path' in address) return openSilences(address.path)
  throw notYet()
}

function notYet(): StoreError {
  return new StoreError('refused', 'store.url: a database is not supported yet; set store.path')
}
