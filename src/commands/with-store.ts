import type { Config } from '../config/config.ts'
import { openForCommand, openReader } from '../store/open-store.ts'
import type { StoreReader } from '../store/reader.ts'
import type { CommandStore } from '../store/store.ts'

/** For `await using`, which closes it. */
export function closable<Opened extends { close: () => Promise<void> }>(opened: Opened): Opened & AsyncDisposable {
  return Object.assign(opened, { [Symbol.asyncDispose]: opened.close })
}

/** Opens the configured store, while daemons may be using it, and closes it after the work. */
export async function withStore<T>({ store }: Config, work: (opened: CommandStore) => Promise<T>): Promise<T> {
  await using opened = closable(await openForCommand(store))
  return await work(opened)
}

/**
 * Opens the configured store for reading.
 *
 * @throws {StoreError} if there is no store, or it cannot be read
 */
export async function withReader<T>({ store }: Config, work: (opened: StoreReader) => Promise<T>): Promise<T> {
  await using opened = closable(await openReader(store))
  return await work(opened)
}
