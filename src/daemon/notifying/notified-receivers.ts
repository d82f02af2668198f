import { readNotified, type Receivers } from '../../notifications/delivery/notified.ts'
import { StoreError } from '../../store/store-error.ts'
import type { DaemonParts } from '../parts.ts'

/** What the receivers were notified of, read again whenever another daemon may have been the leader, and after a reload. */
export function notifiedReceivers({ clock, store, receivers, ownership }: DaemonParts) {
  let known: { membership: string | undefined; read: Promise<Receivers> } | undefined
  let last: Receivers | undefined

  async function read(): Promise<Receivers> {
    for (const one of last?.values() ?? [])
      await one.flush().catch((error: unknown) => {
        if (!(error instanceof StoreError && error.kind === 'stale')) throw error
      })
    return (last = await readNotified(receivers.keys(), { clock, store }))
  }

  const forget = () => void (known = undefined)
  return {
    forget,
    /** @throws {StoreError} */
    all: (): Promise<Receivers> => {
      const membership = ownership.membership()
      if (known?.membership !== membership) known = undefined
      known ??= { membership, read: read() }
      const { read: reading } = known
      // oxlint-disable-next-line promise/prefer-await-to-then -- whoever waits gets the error, and the next one reads again
      reading.catch(() => known?.read === reading && forget())
      return reading
    },
  }
}

/** What the receivers of the daemon were notified of. */
export type NotifiedReceivers = ReturnType<typeof notifiedReceivers>
