import { offsetOf } from '../alerts/signal.ts'
import { windowOfOnlyIf, windowsThen } from '../alerts/relative.ts'
import type { PollSuccess } from '../ledger/observation.ts'
import type { Period } from '../ledger/finished-calls.ts'
import type { Target } from './target.ts'

/** How far ahead the earlier calls are read, so that few polls have to read them (seconds). */
const AHEAD_SECONDS = 900

/** A call that began in an earlier window counts there if it finished within so many seconds after it. */
const LONGEST_CALL_SECONDS = 6 * 3600

/**
 * Reads the calls of the earlier windows that the rules compare with at a time, unless they were read ahead.
 *
 * @param polled when the poll ended
 * @throws {StoreError}
 */
export async function readEarlierCalls(
  { name, ledger, settings, store }: EarlierReader,
  { serviceTime: now, hostTime }: Polled,
): Promise<void> {
  const needed = settings.rules.flatMap((rule): Period[] => {
    const windows = [windowOfOnlyIf(rule, now) ?? [], windowsThen(rule, now)].flat()
    const after = rule.signal.name === 'calls_started' ? LONGEST_CALL_SECONDS : 0
    return windows.map(({ from, to }) => ({ from: from - offsetOf(rule.signal), to: to + after }))
  })
  const isRead = ({ from, to }: Period) => ledger.earlier?.periods.some((read) => read.from <= from && read.to >= to)
  const { lastSuccess = now, lastSuccessHostTime = hostTime } = ledger.sync
  // This poll ends a gap, which its commit adds to the store. By both clocks, since the service may have sent a wrong time for a while.
  const unseen = Math.min(now - lastSuccess, hostTime - lastSuccessHostTime)
  const endsGap = unseen > settings.poll.lookback
  if (needed.length === 0 || (needed.every(isRead) && !endsGap)) return
  const periods = joined(needed.map(({ from, to }) => ({ from, to: to + AHEAD_SECONDS })))
  const earlier = await store.earlierCalls(name, periods, settings.poll.lookback)
  ledger.earlier = { ...earlier, gaps: [...earlier.gaps, ...(endsGap ? [{ from: now - unseen, to: now }] : [])] }
}

/** Joins periods that overlap. Many rules may have the same windows, and a query takes a limited number of periods. */
function joined(periods: readonly Period[]): Period[] {
  const all: Period[] = []
  for (const { from, to } of periods.toSorted((a, b) => a.from - b.from)) {
    const last = all.at(-1)
    if (last === undefined || from > last.to) all.push({ from, to })
    else all[all.length - 1] = { from: last.from, to: Math.max(last.to, to) }
  }
  return all
}

type Polled = Pick<PollSuccess, 'serviceTime' | 'hostTime'>
type EarlierReader = Pick<Target, 'name' | 'ledger' | 'settings' | 'store'>
