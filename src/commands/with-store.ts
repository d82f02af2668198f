import type { Config } from '../config/config.ts'
import { openForCommand } from '../store/open-store.ts'
import type { CommandStore } from '../store/store.ts'

/** Works on the configured store while daemons may be using it, and closes it. */
export async function withStore<T>({ store }: Config, work: (opened: CommandStore) => Promise<T>): Promise<T> {
  const opened = await openForCommand(store)
  try {
    return await work(opened)
  } finally {
    await opened.close()
  }
}
