import { QUARTER_HOUR_SECONDS } from '../ledger/usage.ts'
import { IS_OPEN, computedColumns } from '../store/call-columns.ts'
import type { RowReader } from '../store/sql.ts'
import { selectCalls, type CallFilter, type LabelFilter } from './call-filter.ts'
import { readServiceNow } from './coverage.ts'
import type { Period } from './days.ts'
import { countFinished, endOf, historyScope, withCalls, type HistoryScope } from './history-scope.ts'
import { QueryError } from '../schema/query-error.ts'
import { readRollups } from './rollups.ts'
import { add, addAll, isOfCalls, KEYS, type Sums } from './sums.ts'

/** The possible distances between the points of a series (seconds). */
export const STEPS = [60, 300, 900, 3600, 10_800, 21_600, 86_400] as const

/** The most and the fewest points of a series if no step is given, and how many calls a step then has, where there are enough. */
const MAX_POINTS = 120
const MIN_POINTS = 12
const CALLS_A_STEP = 30
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
    /** One of {@link STEPS}. If undefined, the smallest one that gives few enough points with enough calls. */
    step?: (typeof STEPS)[number] | undefined
    /** The group of a target, by its name, if the calls are to be split. */
    groupOf?: ((target: string) => string) | undefined
    aborted?: AbortSignal | undefined
  }

/** The sums of what finished in a step, and the calls in progress when it began; null if finding out would mean reading too many calls. */
type Point = { sums: Sums; inProgress: number | null }

/**
 * The steps of a period (UNIX seconds), which begin at multiples of the step. `groups` are the largest ones, by name, and the others
 * together; none if the calls are not split.
 */
export type Series = Period & { step: number; points: Point[]; groups: { name: string | undefined; points: Point[] }[] }

/** The most groups of a series, of which the last one has all others. */
const MAX_GROUPS = 8

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
  // The time before the first point is one part, and so is the time after the last point.
  const partAt = (at: number) => Math.min(size, Math.max(-1, Math.floor((at - from) / step)))
  const { names, indexOf } = await groupsOf(store, query, scope, { from, to })
  const groups = names.map((name) => ({ name, ...newPoints(size) }))
  const after = { from: to, to: Infinity }
  const isKnown = step >= QUARTER_HOUR_SECONDS || (await countFinished(store, scope, after, most + 1)) <= most
  const unit = Math.min(step, QUARTER_HOUR_SECONDS)
  const period = withCalls(scope, { from, to: isKnown ? Infinity : to })
  const byTarget = query.groupOf !== undefined
  const reading = { scope, period, filter: query, partAt, unit, byTarget, aborted: query.aborted }
  await readRollups(store, reading, (part, target) => {
    const { sums, progress } = groups[indexOf(target)]!
    return (_code, key, n) => {
      if (key >= KEYS.began) progress(partAt((key - KEYS.began) * unit), part, n)
      else if (part < size) add(sums[part]!, key, n)
    }
  })
  for (const { began, target } of isKnown ? await openCalls(store, query, scope) : [])
    groups[indexOf(target)]!.progress(partAt(began), size, 1)
  const isCounted = (i: number) => isKnown && from + i * step <= end
  const split = groups.map(({ name, pointsIf }) => ({ name, points: pointsIf(isCounted) }))
  const points = split.length === 1 ? split[0]!.points : merged(split, size)
  return { from, to, step, points, groups: byTarget ? split : [] }
}

/** Sums of each step, and how the number of calls in progress changes in each part, from part -1 on. */
function newPoints(size: number) {
  const sums = Array.from({ length: size }, (): Sums => new Map())
  const changes = new Float64Array(size + 2)
  return {
    sums,
    progress: (began: number, finished: number, calls: number) => {
      changes[began + 1]! += calls
      changes[finished + 1]! -= calls
    },
    pointsIf: (isCounted: (step: number) => boolean): Point[] => {
      let inProgress = 0
      return sums.map((each, i) => {
        inProgress += changes[i]!
        return { sums: each, inProgress: isCounted(i) ? inProgress : null }
      })
    },
  }
}

/** The points of all groups together. */
const merged = (groups: Pick<Series, 'points'>[], size: number): Point[] =>
  Array.from({ length: size }, (_, i) => {
    const parts = groups.map(({ points }) => points[i]!)
    const [isKnown, sums] = [parts.every(({ inProgress }) => inProgress !== null), new Map<number, number>()]
    for (const part of parts) addAll(sums, part.sums)
    return { sums, inProgress: isKnown ? parts.reduce((all, { inProgress }) => all + inProgress!, 0) : null }
  })

/** The groups with most calls of a period, and the one of a target, by its number in the store. */
async function groupsOf(store: RowReader, { groupOf, ...query }: SeriesQuery, scope: HistoryScope, asked: Period) {
  if (groupOf === undefined) return { names: [undefined], indexOf: () => 0 }
  const counts = new Map([...scope.names.values()].map((name) => [groupOf(name), 0]))
  const nameOf = (target: number) => groupOf(scope.names.get(target)!)
  const period = withCalls(scope, asked)
  const reading = { scope, period, filter: query, byTarget: true, partAt: () => 0, aborted: query.aborted }
  await readRollups(store, reading, (_part, target) => (_code, key, n) => {
    if (isOfCalls(key)) counts.set(nameOf(target), counts.get(nameOf(target))! + n)
  })
  const sorted = [...counts].toSorted(([, a], [, b]) => b - a).map(([name]) => name)
  const largest = sorted.length > MAX_GROUPS ? sorted.slice(0, MAX_GROUPS - 1) : sorted
  const names = largest.length < sorted.length || largest.length === 0 ? [...largest, undefined] : largest
  const index = (target: number) => largest.indexOf(nameOf(target))
  return { names, indexOf: (target: number) => (index(target) === -1 ? names.length - 1 : index(target)) }
}

/**
 * The given step. If none is given, the smallest step with few enough points and enough calls, where there are any, and, if it needs the
 * rows of calls, with few enough of them.
 */
async function stepOf(
  store: RowReader,
  { from, to, step: asked }: Period & Pick<SeriesQuery, 'step'>,
  scope: HistoryScope,
  most: number,
): Promise<number> {
  const step = asked ?? (await defaultStep(store, { from, to }, scope))
  if ((to - from) / step > MAX_POINTS_ASKED - 1)
    throw new QueryError(`a series has at most ${MAX_POINTS_ASKED} points: take a larger step, or a shorter period`)
  if (step >= QUARTER_HOUR_SECONDS) return step
  if ((await countFinished(store, scope, { from, to }, most + 1)) <= most) return step
  if (asked === undefined) return QUARTER_HOUR_SECONDS
  throw new QueryError(
    `more than ${most} calls finished in this period: take a step of ${QUARTER_HOUR_SECONDS} or more`,
  )
}

async function defaultStep(store: RowReader, { from, to }: Period, scope: HistoryScope): Promise<number> {
  const pointsOf = (step: number) => (to - from) / step
  const [smallest = STEPS.at(-1)!, ...larger] = STEPS.filter((step) => pointsOf(step) <= MAX_POINTS)
  const possible = [smallest, ...larger.filter((step) => pointsOf(step) >= MIN_POINTS)]
  const calls = await countFinished(store, scope, { from, to }, MAX_POINTS * CALLS_A_STEP)
  return possible.find((step) => calls >= CALLS_A_STEP * pointsOf(step)) ?? possible.at(-1)!
}

/** When the calls in progress began (UNIX seconds), and the numbers of their targets. */
async function openCalls(store: RowReader, query: LabelFilter, { numbers }: HistoryScope) {
  const columns = `target, ${computedColumns('began')}`
  const rows = await selectCalls(store, columns, query, numbers, () => `AND ${IS_OPEN}`)
  return rows.map(({ began, target }) => ({ began: Number(began), target: Number(target) }))
}
