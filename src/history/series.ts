import { isoTime } from '../clock/iso-time.ts'
import { ALL_LABELS } from '../ledger/call.ts'
import { BASELINE_CODE } from '../ledger/history-columns.ts'
import { QUARTER_HOUR_SECONDS } from '../ledger/usage.ts'
import type { RowReader } from '../store/row-reader.ts'
import { matchesLabels, queryArguments, type CallFilter } from './call-filter.ts'
import type { Period } from './days.ts'
import { countFinished, endOf, historyScope, withCalls, type HistoryScope } from './history-scope.ts'
import { readRollups } from './read-rollups.ts'
import { add, histogram, KEYS, sumsView, type Sums } from './sums.ts'

/** How far apart the points of a series may be (seconds). */
export const STEPS = [60, 300, 900, 3600, 10_800, 21_600, 86_400] as const

/** Points that a series has at most, where no step is asked for. */
const MAX_POINTS = 300
/** With an own step, at most. */
const MAX_POINTS_ASKED = 1500
/** Calls whose rows are read, at most: for more, points are a quarter of an hour apart or more. */
const MAX_CALLS_READ = 15_000
/** With an own step, at most. */
const MAX_CALLS_ASKED = 100_000

export type SeriesQuery = Pick<Period, 'from'> &
  Pick<CallFilter, 'targets' | 'type' | 'mode' | 'receiverType'> & {
    /** Undefined: until now. */
    to: number | undefined
    /** One of {@link STEPS}; the smallest that is small enough where it is undefined. */
    step?: (typeof STEPS)[number] | undefined
    aborted?: AbortSignal | undefined
  }

/** The calls that finished in one step. */
export type SeriesPoint = ReturnType<typeof sumsView> & {
  /** When the step began. */
  at: string
  answer_delay_seconds: Omit<ReturnType<typeof histogram>, 'known'>
  /** Calls in progress when the step began; null where that is not known without reading too many calls. */
  in_progress: number | null
}

/** Points at multiples of the step. */
export type Series = { since: string; until: string; step_seconds: number; points: SeriesPoint[] }

/** A series with too many points, or of too many calls. */
export class TooFineSteps extends Error {
  override readonly name = 'TooFineSteps'
}

/**
 * What finished in each step of a period, which is extended to whole steps.
 *
 * @param now the host's clock (UNIX seconds): calls in progress are known until then
 * @throws {TooFineSteps}
 * @throws {StoreError} when the store cannot be read now
 */
export async function seriesOf(store: RowReader, query: SeriesQuery, now: number): Promise<Series> {
  const { aborted } = query
  const scope = await historyScope(store, query, 0)
  const end = endOf(scope, now)
  const step = await stepOf(store, { ...query, to: query.to ?? end }, scope)
  const from = Math.floor(query.from / step) * step
  const size = Math.ceil((Math.max(query.from + 1, query.to ?? end) - from) / step)
  const to = from + size * step
  const points = Array.from({ length: size }, (): Sums => new Map())
  // What is before the first point is one part, and so is what is after the last one.
  const partAt = (at: number) => Math.min(size, Math.max(-1, Math.floor((at - from) / step)))
  // Of how many calls are in progress, at the end of each part from -1 on.
  const changes = new Float64Array(size + 2)
  const progress = (began: number, finished: number, calls: number) => {
    changes[began + 1]! += calls
    changes[finished + 1]! -= calls
  }
  const wanted = [...ALL_LABELS.keys()].filter((code) => matchesLabels(query, ALL_LABELS[code]!))
  const labels = wanted.length < ALL_LABELS.length ? wanted : undefined
  const after = { from: to, to: scope.newest + 1 }
  const isKnown =
    step >= QUARTER_HOUR_SECONDS || (await countFinished(store, scope, after, MAX_CALLS_READ + 1)) <= MAX_CALLS_READ
  const period = withCalls(scope, { from, to: isKnown ? Infinity : to })
  const unit = Math.min(step, QUARTER_HOUR_SECONDS)
  await readRollups(store, { scope, period, each: false, labels, partAt, unit, aborted }, (part) => (_code, key, n) => {
    if (key >= KEYS.began) progress(partAt((key - KEYS.began) * unit), part, n)
    else if (part < size) add(points[part]!, key, n)
  })
  for (const { began, labels: code } of isKnown ? await openCalls(store, scope) : [])
    if (labels?.includes(code) !== false) progress(partAt(began), size, 1)
  let inProgress = 0
  return {
    since: isoTime(from),
    until: isoTime(to),
    step_seconds: step,
    points: points.map((sums, i): SeriesPoint => {
      inProgress += changes[i]!
      const at = from + i * step
      const { p50, p95 } = histogram(sums, 'answerDelay')
      return {
        at: isoTime(at),
        ...sumsView(sums),
        answer_delay_seconds: { p50, p95 },
        in_progress: isKnown && at <= end ? inProgress : null,
      }
    }),
  }
}

async function stepOf(
  store: RowReader,
  { from, to, step: asked }: Period & Pick<SeriesQuery, 'step'>,
  scope: HistoryScope,
): Promise<number> {
  const countCalls = (most: number) => countFinished(store, scope, { from, to }, most + 1)
  const expectPoints = (step: number) => {
    if (Math.ceil((to - from) / step) < MAX_POINTS_ASKED) return
    throw new TooFineSteps(`a series has at most ${MAX_POINTS_ASKED} points: take a larger step, or a shorter period`)
  }
  if (asked !== undefined) {
    expectPoints(asked)
    if (asked < QUARTER_HOUR_SECONDS && (await countCalls(MAX_CALLS_ASKED)) > MAX_CALLS_ASKED)
      throw new TooFineSteps(
        `more than ${MAX_CALLS_ASKED} calls finished in this period: take a step of ${QUARTER_HOUR_SECONDS} or more`,
      )
    return asked
  }
  const fitting = STEPS.filter((step) => (to - from) / step <= MAX_POINTS)
  const [smallest = STEPS.at(-1)!] = fitting
  expectPoints(smallest)
  if (smallest >= QUARTER_HOUR_SECONDS || (await countCalls(MAX_CALLS_READ)) <= MAX_CALLS_READ) return smallest
  return QUARTER_HOUR_SECONDS
}

async function openCalls(store: RowReader, { numbers }: HistoryScope): Promise<{ began: number; labels: number }[]> {
  const { args, add } = queryArguments()
  const rows = await store.rows(
    // Less than the code, not other than it: so the index has them side by side.
    `SELECT began, labels FROM callwatch.calls
    WHERE target IN (${numbers.join(', ') || 'NULL'}) AND finished IS NULL AND status < ${add(BASELINE_CODE)}`,
    args,
  )
  return rows.map(({ began, labels }) => ({ began: Number(began), labels: Number(labels) }))
}
