import { finalStatusOf, labelsOfCode } from '../ledger/call-codes.ts'
import { ALL_LABELS, FINAL_STATUSES } from '../ledger/call.ts'
import { failureRatio, MIN_EXPORTED_CALLS } from '../ledger/failure-ratio.ts'
import { LOST_CODE } from '../ledger/history-columns.ts'
import { QUARTER_HOUR_SECONDS, quarterHourOf } from '../ledger/usage.ts'
import type { RowReader } from '../store/row-reader.ts'
import { daysOf, type Period } from './days.ts'
import { historyScope } from './history-scope.ts'
import { readRollups } from './read-rollups.ts'
import { durations, HISTOGRAMS, type Durations } from './histograms.ts'
import { widthFor, type RollupAmounts } from './rollup.ts'

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
  duration_seconds: Durations
  /** Calls that callwatch noticed more than five minutes after they had finished. */
  noticed_late: number
}

export type UsageQuery = Period & {
  by: readonly UsageKey[]
  /** An IANA name: days begin and end by it. */
  zone: string
  /** By name; undefined for all. */
  targets?: readonly string[] | undefined
  /** The report is not wanted any more: the next part is not read. */
  aborted?: AbortSignal | undefined
}

/**
 * What finished in a period, by when it finished: a row for each combination of keys that has calls, in their order; without
 * keys one row.
 *
 * @throws {StoreError} when the store cannot be read now
 */
export async function usageOf(store: RowReader, query: UsageQuery): Promise<UsageRow[]> {
  const { by, zone, targets, aborted } = query
  const sums = new Map<string, UsageSum>()
  if (by.length === 0) sums.set('', newSum({}))
  const { oldest, newest, names } = await historyScope(store, { targets }, query.from)
  // To whole quarters: what is in them is read as a rollup.
  const period = {
    from: Math.max(query.from, quarterHourOf(oldest)),
    to: Math.min(query.to, quarterHourOf(newest) + QUARTER_HOUR_SECONDS),
  }
  const days = by.includes('day') ? daysOf(period, zone) : []
  const sumOf = (all: Partial<Record<UsageKey, string | undefined>>) => {
    const keys = Object.fromEntries(by.map((key) => [key, all[key]!]))
    const name = by.length === 0 ? '' : JSON.stringify(Object.values(keys))
    const sum = sums.get(name) ?? newSum(keys)
    sums.set(name, sum)
    return sum
  }
  /** By day and target, the sums of labels by their codes: a rollup has thousands of entries. */
  const known = new Map<string, UsageSum[]>()
  const numbers = [...names.keys()]
  // The days of some zones begin at a half or a quarter of an hour.
  const width = widthFor(days.slice(1).map(({ from }) => from)) ?? QUARTER_HOUR_SECONDS
  const each = by.includes('target')
  const labels = by.some((key) => key !== 'day' && key !== 'target') ? [...ALL_LABELS.keys()] : undefined
  await readRollups(
    store,
    { period, numbers, each, isAll: targets === undefined, width, labels, aborted },
    (number, at) => {
      const day = days.findLast(({ from }) => from <= Math.max(at, period.from))?.name
      const place = `${day} ${number}`
      const ofPlace = known.get(place) ?? []
      known.set(place, ofPlace)
      const of = (code: number) => {
        const { type, mode, receiverType } = labelsOfCode(code)
        return (ofPlace[code] ??= sumOf({ day, target: names.get(number), type, mode, receiver_type: receiverType }))
      }
      return {
        add: (code, status, amounts) => addAmounts(of(code), status, amounts),
        histograms: (code) => {
          const { entries } = of(code)
          return (entry, calls) => void entries.set(entry, (entries.get(entry) ?? 0) + calls)
        },
      }
    },
  )
  return [...sums.values()].toSorted((a, b) => compareKeys(a.keys, b.keys)).map(rowOf)
}

type UsageSum = {
  keys: Partial<Record<UsageKey, string>>
  calls: UsageRow['calls']
  minutes: [audio: number, video: number, participantAudio: number, participantVideo: number]
  late: number
  duration: number
  /** Of their histograms. */
  entries: Map<number, number>
}

function newSum(keys: UsageSum['keys']): UsageSum {
  const calls = { ended: 0, unanswered: 0, rejected: 0, canceled: 0, other: 0, lost: 0 }
  return { keys, calls, minutes: [0, 0, 0, 0], late: 0, duration: 0, entries: new Map() }
}

/** Adds the amounts of calls with a status, in place. */
function addAmounts(sum: UsageSum, status: number, amounts: RollupAmounts): void {
  const [calls, late, audio, video, participantAudio, participantVideo, duration] = amounts
  sum.calls[status === LOST_CODE ? 'lost' : finalStatusOf(status)] += calls
  for (const [i, minutes] of [audio, video, participantAudio, participantVideo].entries()) sum.minutes[i]! += minutes
  sum.late += late
  sum.duration += duration
}

function rowOf({ keys, calls, minutes, late, duration, entries }: UsageSum): UsageRow {
  const { lost: _lost, ...finished } = calls
  const total = Object.values(finished).reduce((all, n) => all + n, 0)
  const counts = new Float64Array(HISTOGRAMS.crossed)
  for (const [entry, n] of entries) counts[entry] = n
  return {
    ...keys,
    calls,
    minutes: { audio: minutes[0], video: minutes[1] },
    participant_minutes: { audio: minutes[2], video: minutes[3] },
    failure_ratio: total < MIN_EXPORTED_CALLS ? null : failureRatio({ ...finished, total }, 'any'),
    duration_seconds: durations(duration, counts),
    noticed_late: late,
  }
}

function compareKeys(a: UsageSum['keys'], b: UsageSum['keys']): number {
  for (const key of USAGE_KEYS) {
    const [first, second] = [a[key] ?? '', b[key] ?? '']
    if (first !== second) return first < second ? -1 : 1
  }
  return 0
}
