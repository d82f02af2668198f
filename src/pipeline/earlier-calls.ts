import { offsetOf } from '../alerts/signal.ts'
import { windowOfOnlyIf, windowsThen } from '../alerts/relative.ts'
import type { Period } from '../ledger/finished-calls.ts'
import type { Target } from './target.ts'

/** How far ahead the earlier calls are read, so that few polls have to read them (seconds). */
const AHEAD_SECONDS = 900

/** A call that began in an earlier window counts there if it finished within so many seconds after it. */
const LONGEST_CALL_SECONDS = 6 * 3600

/**
 * Reads the calls of the earlier windows that the rules compare with at a time, unless they were read ahead.
 *
 * @param now the service's clock (UNIX seconds)
 * @throws {StoreError}
 */
export async function readEarlierCalls({ name, ledger, settings, store }: EarlierReader, now: number): Promise<void> {
  const needed = settings.rules.flatMap((rule): Period[] => {
    const windows = [windowOfOnlyIf(rule, now) ?? [], windowsThen(rule, now)].flat()
    const after = rule.signal.name === 'calls_started' ? LONGEST_CALL_SECONDS : 0
    return windows.map(({ from, to }) => ({ from: from - offsetOf(rule.signal), to: to + after }))
  })
  const isRead = ({ from, to }: Period) => ledger.earlier?.periods.some((read) => read.from <= from && read.to >= to)
  const { lastSuccess = -Infinity, previousSuccess = lastSuccess } = ledger.sync
  // The last commit added a gap.
  const hasNewGap = lastSuccess - previousSuccess > settings.poll.lookback
  if (needed.length === 0 || (needed.every(isRead) && !hasNewGap)) return
  const periods = needed.map(({ from, to }) => ({ from, to: to + AHEAD_SECONDS }))
  ledger.earlier = await store.earlierCalls(name, periods, settings.poll.lookback)
}

type EarlierReader = Pick<Target, 'name' | 'ledger' | 'settings' | 'store'>
