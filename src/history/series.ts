import { QUARTER_HOUR_SECONDS } from '../ledger/usage.ts'
import { IS_OPEN, computedColumns } from '../store/call-columns.ts'
import type { RowReader } from '../store/sql.ts'
import { selectCalls, type CallFilter, type LabelFilter } from './call-filter.ts'
import { readServiceNow } from './coverage.ts'
import type { Period } from './days.ts'
import { countFinished, endOf, historyScope, withCalls, type HistoryScope } from './history-scope.ts'
import { QueryError } from '../schema/query-error.ts'
import { readRollups } from './rollups.ts'
import { add, KEYS, type Sums } from './sums.ts'

/** The possible distances between the points of a series (seconds). */
export const STEPS = [60, 300, 900, 3600, 10_800, 21_600, 86_400] as const

/** The most points of a series if no step is given. */
const MAX_POINTS = 300
/** The most points if a step is given. */
const MAX_POINTS_ASKED = 1500
/** The most calls whose rows are read. With more calls, points are at least a quarter of an hour apart. */
const MAX_CALLS_READ = 15_000
/** The most calls if a step is given, or if quarters of an hour would be fewer than {@link FEW_POINTS}. */
const MAX_CALLS_ASKED = 100_000
const FEW_POINTS = 12

export type SeriesQuery = Pick<Period, 'from'> &
  Pick<CallFilter, 'targets' | keyof LabelFilter> & {
    /** Undefined for a period until now. */
    to: number | undefined
    /** One of {@link STEPS}. If undefined, the smallest step that gives few enough points. */
    step?: (typeof STEPS)[number] | undefined
    aborted?: AbortSignal | undefined
  }

/**
 * The steps of a period (UNIX seconds), which begin at multiples of the step: the sums of what finished in each of them, and the calls in
 * progress when it began; null if finding out would mean reading too many calls.
 */
export type Series = Period & { step: number; points: { sums: Sums; inProgress: number | null }[] }

/**
 * What finished in each step of a period, which is extended to whole steps.
 *
 * @param now the host's clock (UNIX seconds): calls in progress are known until then
 * @throws {QueryError} for too many points, or too many calls
 * @throws {StoreError} if the store cannot be read now
 */
export async function seriesOf(store: RowReader, query: SeriesQuery, now: number): Promise<Series> {
  const scope = await historyScope(store, query, 0)
  const end = endOf(scope, await readServiceNow(store, query.targets, now, Math.max))
  const isShort = ((query.to ?? end) - query.from) / QUARTER_HOUR_SECONDS < FEW_POINTS
  const most = query.step !== undefined || isShort ? MAX_CALLS_ASKED : MAX_CALLS_READ
  const step = await stepOf(store, { ...query, to: query.to ?? end }, scope, most)
  const from = Math.floor(query.from / step) * step
  const size = Math.ceil((Math.max(query.from + 1, query.to ?? end) - from) / step)
  const to = from + size * step
  const points = Array.from({ length: size }, (): Sums => new Map())
  // The time before the first point is one part, and so is the time after the last point.
  const partAt = (at: number) => Math.min(size, Math.max(-1, Math.floor((at - from) / step)))
  // How the number of calls in progress changes in each part, from part -1 on.
  const changes = new Float64Array(size + 2)
  const progress = (began: number, finished: number, calls: number) => {
    changes[began + 1]! += calls
    changes[finished + 1]! -= calls
  }
  const after = { from: to, to: Infinity }
  const isKnown = step >= QUARTER_HOUR_SECONDS || (await countFinished(store, scope, after, most + 1)) <= most
  const unit = Math.min(step, QUARTER_HOUR_SECONDS)
  const period = withCalls(scope, { from, to: isKnown ? Infinity : to })
  const reading = { scope, period, filter: query, partAt, unit, aborted: query.aborted }
  await readRollups(store, reading, (part) => (_code, key, n) => {
    if (key >= KEYS.began) progress(partAt((key - KEYS.began) * unit), part, n)
    else if (part < size) add(points[part]!, key, n)
  })
  for (const began of isKnown ? await openCalls(store, query, scope) : []) progress(partAt(began), size, 1)
  let inProgress = 0
  return {
    from,
    to,
    step,
    points: points.map((sums, i) => {
      inProgress += changes[i]!
      return { sums, inProgress: isKnown && from + i * step <= end ? inProgress : null }
    }),
  }
}

/**
 * The given step. If none is given, the smallest step with few enough points and, if it needs the rows of calls, with few
 * enough calls.
 */
async function stepOf(
  store: RowReader,
  { from, to, step: asked }: Period & Pick<SeriesQuery, 'step'>,
  scope: HistoryScope,
  most: number,
): Promise<number> {
  const step = asked ?? STEPS.find((each) => (to - from) / each <= MAX_POINTS) ?? STEPS.at(-1)!
  if ((to - from) / step > MAX_POINTS_ASKED - 1)
    throw new QueryError(`a series has at most ${MAX_POINTS_ASKED} points: take a larger step, or a shorter period`)
  if (step >= QUARTER_HOUR_SECONDS) return step
  if ((await countFinished(store, scope, { from, to }, most + 1)) <= most) return step
  if (asked === undefined) return QUARTER_HOUR_SECONDS
  throw new QueryError(
    `more than ${most} calls finished in this period: take a step of ${QUARTER_HOUR_SECONDS} or more`,
  )
}

/** When the calls in progress began (UNIX seconds). */
async function openCalls(store: RowReader, query: LabelFilter, { numbers }: HistoryScope): Promise<number[]> {
  const rows = await selectCalls(store, computedColumns('began'), query, numbers, () => `AND ${IS_OPEN}`)
  return rows.map(({ began }) => Number(began))
}
