import { isoTime } from '../clock/iso-time.ts'
import { finalStatusOf } from '../ledger/call-codes.ts'
import { ALL_LABELS } from '../ledger/call.ts'
import { failureRatio, MIN_EXPORTED_CALLS } from '../ledger/failure-ratio.ts'
import { BASELINE_CODE, LOST_CODE } from '../ledger/history-columns.ts'
import { QUARTER_HOUR_SECONDS, quarterHourOf } from '../ledger/usage.ts'
import type { RowReader } from '../store/row-reader.ts'
import { matchesLabels, queryArguments, type CallFilter } from './call-filter.ts'
import type { Period } from './days.ts'
import { countFinished, endOf, historyScope } from './history-scope.ts'
import { readRollups, type RollupsQuery } from './read-rollups.ts'
import { durations, HISTOGRAMS, percentiles, type Percentiles } from './histograms.ts'
import { widthFor, type RollupSink } from './rollup.ts'
import type { UsageRow } from './usage.ts'

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
export type SeriesPoint = Pick<
  UsageRow,
  'calls' | 'minutes' | 'participant_minutes' | 'failure_ratio' | 'duration_seconds'
> & {
  /** When the step began. */
  at: string
  answer_delay_seconds: Percentiles
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
  const scope = await historyScope(store, query, 0)
  const { numbers, oldest, newest } = scope
  const end = endOf(scope, now)
  const asked = { ...query, to: query.to ?? end }
  const step = await stepOf(store, asked, numbers)
  const [from, to] = [Math.floor(query.from / step) * step, Math.ceil(Math.max(asked.from + 1, asked.to) / step) * step]
  const width = widthFor([step]) ?? step
  const points = Array.from({ length: (to - from) / step }, newPoint)
  // Changes of how many calls are in progress, at multiples of the width; the first one has those from before.
  const changes = new Float64Array((to - from) / width + 1)
  const progress = (began: number, finished: number, calls: number) => {
    const [first, last] = [began + 1, finished + 1].map((unit) => Math.max(0, unit - from / width))
    changes[Math.min(first!, changes.length - 1)]! += calls
    changes[Math.min(last!, changes.length - 1)]! -= calls
  }
  const wanted = [...ALL_LABELS.keys()].filter((code) => matchesLabels(query, ALL_LABELS[code]!))
  const labels = wanted.length < ALL_LABELS.length ? wanted : undefined
  const { targets, aborted } = query
  const all: Omit<RollupsQuery, 'period'> = {
    numbers,
    each: false,
    isAll: targets === undefined,
    width,
    labels,
    aborted,
  }
  // Where there are no calls, nothing is read.
  const period = {
    from: Math.max(from, quarterHourOf(oldest)),
    to: Math.min(to, quarterHourOf(newest) + QUARTER_HOUR_SECONDS),
  }
  await readRollups(store, { ...all, period }, (_, at): RollupSink => {
    const point = points[Math.floor((at - from) / step)]!
    return {
      add: (_labels, status, amounts) => addTo(point, status, amounts),
      histograms: () => {
        const entries = (point.entries ??= new Float64Array(HISTOGRAMS.crossed))
        return (entry, calls) => {
          if (entry < HISTOGRAMS.crossed) entries[entry]! += calls
          else progress(at / width - (entry - HISTOGRAMS.crossed), at / width, calls)
        }
      },
    }
  })
  const after = { from: to, to: newest + 1 }
  const isKnown =
    width >= QUARTER_HOUR_SECONDS ||
    (await countFinished(store, { numbers }, after, MAX_CALLS_READ + 1)) <= MAX_CALLS_READ
  if (isKnown) {
    await readRollups(store, { ...all, period: after }, (_, at) => ({
      add: () => undefined,
      histograms: () => (entry, calls) => {
        if (entry >= HISTOGRAMS.crossed) progress(at / width - (entry - HISTOGRAMS.crossed), at / width, calls)
      },
    }))
    for (const { began, labels: code } of await openCalls(store, numbers))
      if (labels?.includes(code) !== false) progress(Math.floor(began / width), Infinity, 1)
  }
  let inProgress = 0
  const progressAt = Array.from(changes, (change) => (inProgress += change))
  return {
    since: isoTime(from),
    until: isoTime(to),
    step_seconds: step,
    points: points.map((point, i) => {
      const at = from + i * step
      return viewOf(point, at, isKnown && at <= end ? progressAt[(i * step) / width]! : null)
    }),
  }
}

async function stepOf(
  store: RowReader,
  { from, to, step: asked }: Period & Pick<SeriesQuery, 'step'>,
  numbers: readonly number[],
): Promise<number> {
  const countCalls = (most: number) => countFinished(store, { numbers }, { from, to }, most + 1)
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

async function openCalls(store: RowReader, numbers: readonly number[]): Promise<{ began: number; labels: number }[]> {
  const { args, add } = queryArguments()
  const rows = await store.rows(
    // Less than the code, not other than it: so the index has them side by side.
    `SELECT began, labels FROM callwatch.calls
    WHERE target IN (${numbers.join(', ') || 'NULL'}) AND finished IS NULL AND status < ${add(BASELINE_CODE)}`,
    args,
  )
  return rows.map(({ began, labels }) => ({ began: Number(began), labels: Number(labels) }))
}

type Point = Pick<SeriesPoint, 'calls' | 'minutes' | 'participant_minutes'> & {
  /** Of all calls that ended (seconds). */
  duration: number
  entries?: Float64Array
}

function newPoint(): Point {
  return {
    calls: { ended: 0, unanswered: 0, rejected: 0, canceled: 0, other: 0, lost: 0 },
    minutes: { audio: 0, video: 0 },
    participant_minutes: { audio: 0, video: 0 },
    duration: 0,
  }
}

function addTo(point: Point, status: number, amounts: Parameters<RollupSink['add']>[2]): void {
  const [calls, , audio, video, participantAudio, participantVideo, duration] = amounts
  point.calls[status === LOST_CODE ? 'lost' : finalStatusOf(status)] += calls
  point.minutes.audio += audio
  point.minutes.video += video
  point.participant_minutes.audio += participantAudio
  point.participant_minutes.video += participantVideo
  point.duration += duration
}

function viewOf({ entries, duration, ...sums }: Point, at: number, inProgress: number | null): SeriesPoint {
  const { lost: _lost, ...finished } = sums.calls
  const total = Object.values(finished).reduce((all, n) => all + n, 0)
  return {
    at: isoTime(at),
    ...sums,
    failure_ratio: total < MIN_EXPORTED_CALLS ? null : failureRatio({ ...finished, total }, 'any'),
    duration_seconds: durations(duration, entries),
    answer_delay_seconds: percentiles('answerDelay', entries),
    in_progress: inProgress,
  }
}
