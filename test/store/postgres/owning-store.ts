import { randomUUID } from 'node:crypto'
import type { PostgresStoreOptions } from '../../../src/store/postgres/postgres-store.ts'
import type { Store } from '../../../src/store/store.ts'
import { joined } from './daemon.ts'

/** A store whose daemon owns each target that it opens, until it is closed. */
export async function owningStore(url: string, options: Partial<PostgresStoreOptions> = {}): Promise<Store> {
  const store = await joined(url, randomUUID(), options)
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
