import { OPEN_STATUSES, FINAL_STATUSES } from '../ledger/call.ts'
import { failureRatio, MIN_EXPORTED_CALLS } from '../ledger/failure-ratio.ts'
import { LATE_SECONDS, QUARTER_HOUR_SECONDS } from '../ledger/usage.ts'
import { shown } from '../store/call-columns.ts'
import type { ReadRow } from '../store/row-reader.ts'

/**
 * What is added up of finished calls, by key. Before {@link KEYS} are the amounts of each status, by its code (call-codes.ts). Then come the calls in each class of durations and of answer delays, and the calls that began in each
 * quarter of an hour before.
 */
export type Sums = Map<number, number>

/** Takes a number that is added to the sum of a key, of calls with these labels (by their code). */
export type Take = (labels: number, key: number, n: number) => void

/** The first key of each histogram. A key of `began` is the number of the quarter since 1970 after it. */
export const KEYS = { duration: 64, answerDelay: 576, began: 1088 } as const

/** In the order of their keys: minutes, and the duration in seconds. */
const AMOUNTS = ['calls', 'late', 'audio', 'video', 'participant_audio', 'participant_video', 'duration'] as const

/** In the order of a report, which is that of their codes. */
export const USAGE_STATUSES = [...FINAL_STATUSES, 'other', 'lost'] as const

/** Adds a number to the sum of a key, in place. */
export function add(sums: Sums, key: number, n: number): void {
  sums.set(key, (sums.get(key) ?? 0) + n)
}

/** The columns of a call's row that sums need. */
export const SUMMED_COLUMNS = `finished, status, labels, audio, video, participant_audio, participant_video,
  ${shown('began', 'noticed', 'duration', 'answer_delay')}`

/**
 * Gives what sums have of a call.
 *
 * @param row with {@link SUMMED_COLUMNS}
 * @param unit which of its parts of time `began` counts (seconds)
 */
export function takeCall(take: Take, row: ReadRow, unit: number = QUARTER_HOUR_SECONDS): void {
  const number = (column: string) => Number(row[column])
  const [labels, first] = [number('labels'), number('status') * AMOUNTS.length]
  const [duration, delay] = [row['duration'], row['answer_delay']]
  const late = number('noticed') - number('finished') > LATE_SECONDS ? 1 : 0
  for (const [i, name] of AMOUNTS.entries()) {
    const amount = name === 'calls' ? 1 : name === 'late' ? late : number(name)
    if (amount !== 0) take(labels, first + i, amount)
  }
  if (duration !== null) take(labels, KEYS.duration + classOf(Number(duration)), 1)
  if (delay !== null) take(labels, KEYS.answerDelay + classOf(Number(delay)), 1)
  const began = Math.floor(number('began') / unit)
  if (began < Math.floor(number('finished') / unit)) take(labels, KEYS.began + began, 1)
}

/** What a report and a series both show of sums. */
export function sumsView(sums: Sums) {
  const calls = { ended: 0, unanswered: 0, rejected: 0, canceled: 0, other: 0, lost: 0 }
  for (const [i, status] of USAGE_STATUSES.entries())
    calls[status] = sums.get((OPEN_STATUSES.length + i) * AMOUNTS.length) ?? 0
  const { lost: _lost, ...finished } = calls
  const total = Object.values(finished).reduce((all, n) => all + n, 0)
  const { known, percentiles } = histogram(sums, 'duration')
  return {
    calls,
    /** Call level, as the service last said. */
    minutes: { audio: amountOf(sums, 'audio'), video: amountOf(sums, 'video') },
    participant_minutes: { audio: amountOf(sums, 'participant_audio'), video: amountOf(sums, 'participant_video') },
    /** Unanswered, rejected and canceled calls among all that finished; null of fewer than five. */
    failure_ratio: total < MIN_EXPORTED_CALLS ? null : failureRatio({ ...finished, total }, 'any'),
    /** Of the calls that ended. */
    duration_seconds: { mean: known === 0 ? null : amountOf(sums, 'duration') / known, ...percentiles },
  }
}

/** An amount of calls with any status. */
export function amountOf(sums: Sums, name: (typeof AMOUNTS)[number]): number {
  let all = 0
  for (let key = AMOUNTS.indexOf(name); key < KEYS.duration; key += AMOUNTS.length) all += sums.get(key) ?? 0
  return all
}

/** The percentiles of a time (seconds), exact to 2%, and of how many calls it is known; null of none. */
export function histogram(sums: Sums, name: 'duration' | 'answerDelay') {
  const [counts, first] = [new Float64Array(CLASSES), KEYS[name]]
  let known = 0
  sums.forEach((calls, key) => {
    if (key < first || key >= first + CLASSES) return
    counts[key - first] = calls
    known += calls
  })
  const percentile = (share: number) => {
    let [left, each] = [Math.ceil(known * share), -1]
    while (left > 0) left -= counts[++each]!
    return each === -1 ? null : timeOf(each)
  }
  return { known, percentiles: { p50: percentile(0.5), p95: percentile(0.95) } }
}

/** Classes of times: one is e^(1/26) wide, so its middle is at most 2% off. */
const CLASSES = 512
const CLASSES_A_FACTOR = 26
const SHORTEST = 0.01
const SHORTEST_CLASS = 1 - Math.floor(Math.log(SHORTEST) * CLASSES_A_FACTOR)

/** The class of a time. */
function classOf(seconds: number): number {
  if (!(seconds > SHORTEST)) return 0
  return Math.min(CLASSES - 1, Math.floor(Math.log(seconds) * CLASSES_A_FACTOR) + SHORTEST_CLASS)
}

/** The time that represents those of a class (seconds). */
function timeOf(each: number): number {
  return each === 0 ? 0 : Number(Math.exp((each - SHORTEST_CLASS + 0.5) / CLASSES_A_FACTOR).toPrecision(4))
}
