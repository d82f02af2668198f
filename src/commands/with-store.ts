import type { Config } from '../config/config.ts'
import { openForCommand, openReader } from '../store/open-store.ts'
import type { StoreReader } from '../store/reader.ts'
import type { CommandStore } from '../store/store.ts'

/** Opens the configured store, while daemons may be using it, and closes it after the work. */
export async function withStore<T>({ store }: Config, work: (opened: CommandStore) => Promise<T>): Promise<T> {
  return closing(await openForCommand(store), work)
}

/**
 * Opens the configured store for reading.
 *
 * @throws {StoreError} if there is no store, or it cannot be read
 */
export async function withReader<T>({ store }: Config, work: (opened: StoreReader) => Promise<T>): Promise<T> {
  return closing(await openReader(store), work)
}

async function closing<Opened extends { close: () => Promise<void> }, T>(
  opened: Opened,
  work: (opened: Opened) => Promise<T>,
): Promise<T> {
  try {
    return await work(opened)
  } finally {
    await opened.close()
  }
}
