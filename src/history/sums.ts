import { OPEN_STATUSES, FINAL_STATUSES } from '../ledger/call.ts'
import { failureCount } from '../ledger/failure-ratio.ts'
import { countByStatus } from '../ledger/finished-calls.ts'
import { INVITED } from '../ledger/series.ts'
import { LATE_SECONDS, QUARTER_HOUR_SECONDS } from '../ledger/usage.ts'
import { computedColumns } from '../store/call-columns.ts'
import type { Row } from '../store/sql.ts'

/**
 * The sums of finished calls, by key. Keys below those in {@link KEYS} are amounts for each status, by its code
 * (call-codes.ts). Then come the user minutes, the invited people, the numbers of calls in each class of durations and of answer delays,
 * and the numbers of calls that began in each earlier quarter of an hour.
 */
export type Sums = Map<number, number>

/** Adds a number to the sum of a key, for calls with these labels (by their code). */
export type AddToSum = (labels: number, key: number, n: number) => void

/**
 * The key of the user minutes, the first key of {@link INVITED}, and that of each histogram. To this, `began` adds the number of the
 * quarter of an hour since 1970.
 */
export const KEYS = { userMinutes: 56, invited: 57, duration: 64, answerDelay: 576, began: 1088 } as const

/** In the order of their keys. Minutes, and the duration in seconds. */
const AMOUNTS = ['calls', 'late', 'audio', 'video', 'participant_audio', 'participant_video', 'duration'] as const

/** What is summed over all statuses, in the order of the keys. */
const OTHERS = ['user_minutes', ...INVITED.map((outcome) => `invited_${outcome}`)]

const COUNTED = [...FINAL_STATUSES, 'other'] as const
const USAGE_STATUSES = [...COUNTED, 'lost'] as const

/** Adds a number to the sum of a key, in place. */
export function add(sums: Sums, key: number, n: number): void {
  sums.set(key, (sums.get(key) ?? 0) + n)
}

/** Adds sums to others, in place. */
export function addAll(to: Sums, sums: Sums): void {
  sums.forEach((n, key) => add(to, key, n))
}

/** The columns of a call's row that sums need. */
export const SUMMED_COLUMNS = `finished, status, labels, audio, video, participant_audio, participant_video,
  invited_joined, invited_absent, ${computedColumns('began', 'noticed', 'duration', 'answer_delay', 'user_minutes', 'invited_unknown')}`

/**
 * Passes the amounts of a call to `addToSum`.
 *
 * @param row with {@link SUMMED_COLUMNS}
 * @param unit the length of the parts of time in which `began` counts (seconds)
 */
export function sumCall(addToSum: AddToSum, row: Row, unit: number = QUARTER_HOUR_SECONDS): void {
  const number = (column: string) => Number(row[column])
  const [labels, first] = [number('labels'), number('status') * AMOUNTS.length]
  const [duration, delay] = [row['duration'], row['answer_delay']]
  const late = number('noticed') - number('finished') > LATE_SECONDS ? 1 : 0
  for (const [i, name] of AMOUNTS.entries()) {
    const amount = name === 'calls' ? 1 : name === 'late' ? late : number(name)
    if (amount !== 0) addToSum(labels, first + i, amount)
  }
  for (const [i, name] of OTHERS.entries()) if (number(name) !== 0) addToSum(labels, KEYS.userMinutes + i, number(name))
  if (duration !== null) addToSum(labels, KEYS.duration + classOf(Number(duration)), 1)
  if (delay !== null) addToSum(labels, KEYS.answerDelay + classOf(Number(delay)), 1)
  const began = Math.floor(number('began') / unit)
  if (began < Math.floor(number('finished') / unit)) addToSum(labels, KEYS.began + began, 1)
}

/** Whether a key is that of a number of calls, of any status. */
export const isOfCalls = (key: number): boolean => key < KEYS.userMinutes && key % AMOUNTS.length === 0

/** How many calls have a status. */
export function callsOf(sums: Sums, status: (typeof USAGE_STATUSES)[number]): number {
  return sums.get((OPEN_STATUSES.length + USAGE_STATUSES.indexOf(status)) * AMOUNTS.length) ?? 0
}

/** The vendor's published formula: the duration of each call × who joined. */
export function userMinutesOf(sums: Sums): number {
  return sums.get(KEYS.userMinutes) ?? 0
}

/** The people whom the calls invited; and, as unknown, the calls of which that is not known. */
export function invitedOf(sums: Sums) {
  const [joined, absent, unknown] = INVITED.map((_, i) => sums.get(KEYS.invited + i) ?? 0)
  return { joined: joined!, absent: absent!, unknown: unknown! }
}

/** An amount, summed over all statuses. */
export function amountOf(sums: Sums, name: (typeof AMOUNTS)[number]): number {
  let all = 0
  for (let key = AMOUNTS.indexOf(name); key < KEYS.userMinutes; key += AMOUNTS.length) all += sums.get(key) ?? 0
  return all
}

/** What is compared and forecast of finished calls. */
export type Amounts = { calls: number; failed: number; participantMinutes: number; userMinutes: number }

export function amountsOf(sums: Sums): Amounts {
  const counts = countByStatus(COUNTED.map((status) => ({ status, n: callsOf(sums, status) })))
  return {
    calls: counts.total,
    failed: failureCount(counts, 'any'),
    participantMinutes: amountOf(sums, 'participant_audio') + amountOf(sums, 'participant_video'),
    userMinutes: userMinutesOf(sums),
  }
}

/** The percentiles of a time (seconds), exact to 2%, and the number of calls for which it is known; null without calls. */
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

/** The number of classes of times. A class is e^(1/26) wide, so its middle is at most 2% off. */
const CLASSES = 512
const CLASSES_A_FACTOR = 26
const SHORTEST = 0.01
const SHORTEST_CLASS = 1 - Math.floor(Math.log(SHORTEST) * CLASSES_A_FACTOR)

/** The class of a time. */
function classOf(seconds: number): number {
  if (!(seconds > SHORTEST)) return 0
  return Math.min(CLASSES - 1, Math.floor(Math.log(seconds) * CLASSES_A_FACTOR) + SHORTEST_CLASS)
}

/** The time that represents a class (seconds). */
function timeOf(each: number): number {
  return each === 0 ? 0 : Number(Math.exp((each - SHORTEST_CLASS + 0.5) / CLASSES_A_FACTOR).toPrecision(4))
}
