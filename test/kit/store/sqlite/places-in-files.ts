import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { openReader } from '../../../../src/store/open-store.ts'
import type { Store } from '../../../../src/store/store.ts'
import type { NewPlace } from '../place.ts'
import { readCallHistory } from '../read-call-history.ts'
import { temporaryFolder } from '../temporary-folder.ts'

type Open = (options: { path: string; receivers?: readonly string[] | undefined }) => Store | Promise<Store>

/** Places for the contract; each store is closed after its test. */
export function placesInFiles(openStore: Open): NewPlace {
  return async () => {
    const path = join(temporaryFolder(), 'callwatch.db')
    return {
      open: async (receivers) => {
        const store = await openStore({ path, receivers })
        onTestFinished(() => store.close().catch(() => undefined))
        return store
      },
      reader: () => openReader({ path }),
      callHistory: () => readCallHistory({ path }),
    }
  }
}
