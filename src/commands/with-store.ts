import type { Config } from '../config/config.ts'
import { openBeside } from '../store/open-store.ts'
import type { StoreBeside } from '../store/store.ts'

/** Works on the configured store beside the daemons that may be using it, and closes it. */
export async function withStore<T>({ store }: Config, work: (opened: StoreBeside) => Promise<T>): Promise<T> {
  const opened = await openBeside(store)
  try {
    return await work(opened)
  } finally {
    await opened.close()
  }
}
