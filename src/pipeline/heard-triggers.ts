import { expectedTriggers, type Hint } from '../ledger/hint.ts'
import type { Delta, LedgerState, SyncState } from '../ledger/state.ts'
import type { Finish } from '../ledger/tracked-call.ts'

const DAY = 86_400
/** For how long a trigger that came with the id of a call is expected to come again (seconds). */
const EXPECTED_SECONDS = 30 * DAY

type Heard = NonNullable<SyncState['webhooks']>
type Times = readonly [first: number, last: number]
const timesOf = (heard: Readonly<Record<string, Times | undefined>>, name: string) => heard[name]

/** When a webhook of each trigger came first and last. Changed in place. Times are UNIX seconds by the host's clock. */
export function heardTriggers({ sync }: Pick<LedgerState, 'sync'>) {
  let heard: Heard = sync.webhooks ?? {}

  function hear(name: keyof Heard, now: number): void {
    const [first, last] = heard[name] ?? [now, now]
    heard = { ...heard, [name]: [now - last <= EXPECTED_SECONDS ? first : now, now] }
  }

  return {
    note: ({ id, trigger }: Hint, now: number) => {
      hear('any', now)
      if (id !== undefined) hear(trigger, now)
    },
    /** Whether webhooks announced such ends before this one, in the last 30 days. */
    areExpected: (finish: Finish, ended: number, now: number) =>
      expectedTriggers(finish).some((one) => {
        const [first, last] = heard[one] ?? [Infinity, -Infinity]
        return first <= ended && now - last <= EXPECTED_SECONDS
      }),
    /** Adds to a delta what the store does not have yet, to a day. */
    addTo: (delta: Delta) => {
      const { webhooks = {} } = delta.sync
      const isNew = ([name, [, last]]: [string, Times]) => last - (timesOf(webhooks, name)?.[1] ?? -Infinity) > DAY
      if (Object.entries(heard).some(isNew)) delta.sync = { ...delta.sync, webhooks: heard }
    },
    /** Call it when the ledger was loaded again: another daemon may have heard more. */
    reload: ({ sync: { webhooks = {} } }: Pick<LedgerState, 'sync'>) => {
      for (const [name, [first, last]] of Object.entries(webhooks)) {
        const [before, after] = timesOf(heard, name) ?? [first, last]
        heard = { ...heard, [name]: [Math.min(first, before), Math.max(last, after)] }
      }
    },
  }
}
