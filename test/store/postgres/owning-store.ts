import { randomUUID } from 'node:crypto'
import type { Store } from '../../../src/store/store.ts'
import { joined } from './daemon.ts'

/** A store whose daemon owns each target that it opens, until it is closed. */
export async function owningStore(url: string, notifiers?: readonly string[]): Promise<Store> {
  const store = await joined(url, randomUUID(), { notifiers })
  return {
    ...store,
    openTarget: async (identity, ...more) => {
      const opened = await store.openTarget(identity, ...more)
      await store.sharing.claim([identity.name], 1)
      return opened
    },
    close: async () => {
      await store.sharing.leave()
      await store.close()
    },
  }
}
