import { failureRatio } from '../ledger/failure-ratio.ts'
import type { FinishedCounts } from '../ledger/finished-calls.ts'
import { beganAt } from '../ledger/tracked-call.ts'
import type { RowReader } from '../store/sql.ts'
import type { Store } from '../store/store.ts'
import type { Period } from './days.ts'
import { seriesOf } from './series.ts'
import { figuresOf, type Figures } from './sums.ts'
import { usageOf } from './usage.ts'

/** What happened on some targets in a period, in sum. Times are UNIX seconds by the service's clock. */
export type Past = Period &
  Figures & {
    targets: readonly string[]
    /** The hour in which the largest share of calls failed, if clearly more than of all, and its calls. */
    worstHour?: { from: number; counts: FinishedCounts }
    /** The calls that have been open for longer than some hours, and the age of the oldest of them (seconds). */
    open: { longerThan: number; calls: number; oldest: number }
  }

const HOUR = 3600
const LONG_OPEN_SECONDS = 3 * HOUR
/** An hour is worse than others with so many calls, of which so many times as large a share failed. */
const MIN_HOUR_CALLS = 10
const WORSE_BY = 1.5

/** @throws {StoreError} if the store cannot be read now */
export async function pastOf(
  store: RowReader & Pick<Store, 'openCalls'>,
  targets: readonly string[],
  { from, to }: Period,
): Promise<Past> {
  const [all] = await usageOf(store, { from, to, by: [], zone: 'UTC', targets })
  const { points, ...hours } = await seriesOf(store, { from, to, step: HOUR, targets }, to)
  const byHour = points.map(({ sums }, i) => ({ from: hours.from + i * HOUR, counts: figuresOf(sums).counts }))
  const figures = figuresOf(all?.sums)
  const shareOf = (counts: FinishedCounts) => failureRatio(counts, 'any')
  // The first hour may have begun before the period.
  const isBad = ({ from: begin, counts }: (typeof byHour)[number]) =>
    begin >= from && counts.total >= MIN_HOUR_CALLS && shareOf(counts) > WORSE_BY * shareOf(figures.counts)
  const [worstHour] = byHour.filter(isBad).toSorted((a, b) => shareOf(b.counts) - shareOf(a.counts))
  const ages = (await store.openCalls(targets)).map(({ call }) => to - beganAt(call))
  const long = ages.filter((age) => age > LONG_OPEN_SECONDS)
  return {
    targets,
    from,
    to,
    ...figures,
    ...(worstHour && { worstHour }),
    open: { longerThan: LONG_OPEN_SECONDS, calls: long.length, oldest: Math.max(0, ...long) },
  }
}
