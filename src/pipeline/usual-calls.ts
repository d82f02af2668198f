import type { Rule } from '../alerts/rule.ts'
import { usualPeriods } from '../alerts/usual.ts'
import type { WindowEnd } from '../ledger/failure-ratio.ts'
import type { LedgerState } from '../ledger/state.ts'
import type { Store } from '../store/store.ts'

const HOUR = 3600

type UsualReader = {
  name: string
  ledger: Pick<LedgerState, 'usual'>
  settings: { rules: readonly Rule[] }
  store: Pick<Store, 'summedCalls'>
}

/**
 * Reads the calls of the times whose share is usual at a successful poll, unless they were read before: once an hour.
 *
 * @throws {StoreError}
 */
export async function readUsualCalls({ name, ledger, settings, store }: UsualReader, polled: WindowEnd): Promise<void> {
  const summed = usualPeriods(settings.rules, polled).map(
    async (period) => ledger.usual.find(({ to }) => to === period.to) ?? store.summedCalls(name, period),
  )
  const read = await Promise.all(summed)
  // Until the poll is committed, everything else is by the time before it.
  const before = ledger.usual.filter(
    ({ to }) => read.every((one) => one.to !== to) && read.some((one) => one.to - to === HOUR),
  )
  ledger.usual = [...read, ...before]
}
