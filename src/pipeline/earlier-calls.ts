import { offsetOf } from '../alerts/signal.ts'
import { windowOfOnlyIf, windowsThen } from '../alerts/relative.ts'
import type { Period } from '../ledger/finished-calls.ts'
import { gapBefore, type GapOf, type Polled } from './commit.ts'
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
export async function readEarlierCalls(target: EarlierReader, polled: Polled): Promise<void> {
  const { name, ledger, settings, store } = target
  const now = polled.serviceTime
  const needed = settings.rules.flatMap((rule): Period[] => {
    const windows = [windowOfOnlyIf(rule, now) ?? [], windowsThen(rule, now)].flat()
    const after = rule.signal.name === 'calls_started' ? LONGEST_CALL_SECONDS : 0
    return windows.map(({ from, to }) => ({ from: from - offsetOf(rule.signal), to: to + after }))
  })
  const isRead = ({ from, to }: Period) => ledger.earlier?.periods.some((read) => read.from <= from && read.to >= to)
  // This poll ends it, and its commit adds it to the store.
  const gap = gapBefore(polled, target)
  const endsGap = gap.to - gap.from > settings.poll.lookback
  if (needed.length === 0 || (needed.every(isRead) && !endsGap)) return
  const periods = joined(needed.map(({ from, to }) => ({ from, to: to + AHEAD_SECONDS })))
  const earlier = await store.earlierCalls(name, periods, settings.poll.lookback)
  ledger.earlier = { ...earlier, gaps: [...earlier.gaps, ...(endsGap ? [gap] : [])] }
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

type EarlierReader = GapOf & Pick<Target, 'name' | 'settings' | 'store'>
