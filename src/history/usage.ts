import { finalStatusOf, labelsOfCode } from '../ledger/call-codes.ts'
import { FINAL_STATUSES, type Labels } from '../ledger/call.ts'
import { failureRatio, MIN_EXPORTED_CALLS } from '../ledger/failure-ratio.ts'
import { LOST_CODE } from '../ledger/history-columns.ts'
import type { ReadRow, RowReader } from '../store/row-reader.ts'
import { conditionsOf, queryArguments, type CallFilter, type HistoryStatus } from './call-filter.ts'
import { countFinished, historyScope, type HistoryScope } from './history-scope.ts'
import { daysOf, type Day, type Period } from './days.ts'

/** By what a report has rows, in the order of its columns. */
export const USAGE_KEYS = ['day', 'target', 'type', 'mode', 'receiver_type'] as const
export type UsageKey = (typeof USAGE_KEYS)[number]

/** In the order of a report. */
export const USAGE_STATUSES = [...FINAL_STATUSES, 'other', 'lost'] as const

export type UsageRow = Partial<Record<UsageKey, string>> & {
  calls: Record<(typeof USAGE_STATUSES)[number], number>
  /** Call level, as the service last said. */
  minutes: { audio: number; video: number }
  participant_minutes: { audio: number; video: number }
  /** Unanswered, rejected and canceled calls among all that finished; null of fewer than five. */
  failure_ratio: number | null
  /** Of calls that ended; null where none has a duration. The percentile is exact to 2%. */
  duration_seconds: { mean: number | null; p95: number | null }
  /** Calls that callwatch noticed more than five minutes after they had finished. */
  noticed_late: number
}

export type UsageQuery = Period & {
  by: readonly UsageKey[]
  /** An IANA name: days begin and end by it. */
  zone: string
  filter?: CallFilter
  /** The report is not wanted any more: the next part is not read. */
  aborted?: AbortSignal
}

/** How long after its end a call counts as noticed late (seconds). */
const LATE_SECONDS = 300

/** Calls that one statement adds up, about. */
const CALLS_A_PART = 20_000

/** Durations in so many classes for each factor of e: one class is 2% wide. */
const CLASSES = 50
const NO_DURATION = -10_000
/** In place of the logarithm of 0. */
const SHORTEST_CLASS = -CLASSES * 5

/** The calls that finished or were lost in a period, added up by all keys and classes of durations. */
const CELLS = `
  SELECT name, labels, status,
    CASE WHEN duration IS NULL THEN ${NO_DURATION}
      WHEN duration > 0.01 THEN floor(ln(duration) * ${CLASSES}) ELSE ${SHORTEST_CLASS} END AS class,
    count(*) AS n, sum(audio) AS audio, sum(video) AS video,
    sum(participant_audio) AS participant_audio, sum(participant_video) AS participant_video,
    sum(duration) AS duration, sum(CASE WHEN noticed - finished > ${LATE_SECONDS} THEN 1 ELSE 0 END) AS late
  FROM callwatch.targets CROSS JOIN callwatch.calls`

/**
 * What finished in a period, by when it finished: a row for each combination of keys that has calls, in their order; without
 * keys one row. All is added up from the calls' rows, some at a time.
 *
 * @throws {StoreError} when the store cannot be read now
 */
export async function usageOf(store: RowReader, query: UsageQuery): Promise<UsageRow[]> {
  const { by, zone, filter = {}, aborted } = query
  const sums = new Map<string, UsageSum>()
  if (by.length === 0) sums.set('', newSum({}))
  const scope = await historyScope(store, filter, query.from)
  const { oldest, newest, numbers } = scope
  const period = { from: Math.max(query.from, oldest), to: Math.min(query.to, newest + 1) }
  for await (const part of partsOf(store, scope, daysOf(period, zone))) {
    aborted?.throwIfAborted()
    const { args, add } = queryArguments()
    const where = `${conditionsOf(filter, numbers, add)} AND finished >= ${add(part.from)} AND finished < ${add(part.to)}`
    for (const row of await store.rows(`${CELLS} WHERE ${where} GROUP BY 1, 2, 3, 4`, args)) {
      const all = { day: part.name, target: String(row['name']), ...keysOf(labelsOfCode(Number(row['labels']))) }
      const keys = Object.fromEntries(USAGE_KEYS.filter((key) => by.includes(key)).map((key) => [key, all[key]]))
      const name = JSON.stringify(Object.values(keys))
      const sum = sums.get(by.length === 0 ? '' : name) ?? newSum(keys)
      sums.set(by.length === 0 ? '' : name, sum)
      addCells(sum, row)
    }
  }
  return [...sums.values()].toSorted((a, b) => compareKeys(a.keys, b.keys)).map(rowOf)
}

/** Days in parts that one statement adds up in a moment. */
async function* partsOf(store: RowReader, scope: HistoryScope, days: readonly Day[]): AsyncGenerator<Day> {
  for (const { name, from, to } of days) {
    const parts = Math.ceil((await countFinished(store, scope, { from, to })) / CALLS_A_PART)
    const length = (to - from) / parts
    for (let i = 0; i < parts; i++)
      yield { name, from: from + i * length, to: i === parts - 1 ? to : from + (i + 1) * length }
  }
}

type UsageSum = {
  keys: Partial<Record<UsageKey, string>>
  calls: UsageRow['calls']
  minutes: [audio: number, video: number, participantAudio: number, participantVideo: number]
  late: number
  duration: number
  /** How many calls have a duration, by its class. */
  classes: Map<number, number>
}

function newSum(keys: UsageSum['keys']): UsageSum {
  const calls = { ended: 0, unanswered: 0, rejected: 0, canceled: 0, other: 0, lost: 0 }
  return { keys, calls, minutes: [0, 0, 0, 0], late: 0, duration: 0, classes: new Map() }
}

function keysOf({ type, mode, receiverType }: Labels) {
  return { type, mode, receiver_type: receiverType }
}

/** Adds what a row of {@link CELLS} has, in place. */
function addCells(sum: UsageSum, row: ReadRow): void {
  const [status, n, durations] = [Number(row['status']), Number(row['n']), Number(row['class'])]
  const of: HistoryStatus = status === LOST_CODE ? 'lost' : finalStatusOf(status)
  sum.calls[of] += n
  for (const [i, name] of ['audio', 'video', 'participant_audio', 'participant_video'].entries())
    sum.minutes[i]! += Number(row[name])
  sum.late += Number(row['late'])
  if (durations === NO_DURATION) return
  sum.duration += Number(row['duration'])
  sum.classes.set(durations, (sum.classes.get(durations) ?? 0) + n)
}

function rowOf({ keys, calls, minutes, late, duration, classes }: UsageSum): UsageRow {
  const { lost: _lost, ...finished } = calls
  const total = Object.values(finished).reduce((all, n) => all + n, 0)
  const answered = classes.values().reduce((all, n) => all + n, 0)
  return {
    ...keys,
    calls,
    minutes: { audio: minutes[0], video: minutes[1] },
    participant_minutes: { audio: minutes[2], video: minutes[3] },
    failure_ratio: total < MIN_EXPORTED_CALLS ? null : failureRatio({ ...finished, total }, 'any'),
    duration_seconds: {
      mean: answered === 0 ? null : duration / answered,
      p95: answered === 0 ? null : percentileOf(classes, Math.ceil(answered * 0.95)),
    },
    noticed_late: late,
  }
}

/** The duration (seconds) that `rank` calls do not exceed: the middle of its class. */
function percentileOf(classes: ReadonlyMap<number, number>, rank: number): number {
  let seen = 0
  for (const [each, n] of [...classes].toSorted(([a], [b]) => a - b)) {
    seen += n
    if (seen >= rank) return each === SHORTEST_CLASS ? 0 : Number(Math.exp((each + 0.5) / CLASSES).toPrecision(3))
  }
  return 0
}

function compareKeys(a: UsageSum['keys'], b: UsageSum['keys']): number {
  for (const key of USAGE_KEYS) {
    const [first, second] = [a[key] ?? '', b[key] ?? '']
    if (first !== second) return first < second ? -1 : 1
  }
  return 0
}
