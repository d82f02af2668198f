import { labelsOfCode } from '../ledger/call-codes.ts'
import type { RowReader } from '../store/row-reader.ts'
import { daysOf, type Period } from './days.ts'
import { historyScope, withCalls } from './history-scope.ts'
import { ALL_TARGETS, readRollups } from './read-rollups.ts'
import { add, amountOf, KEYS, sumsView, type Sums } from './sums.ts'

/** The keys by which a report can be split into rows, in the order of its columns. */
export const USAGE_KEYS = ['day', 'target', 'type', 'mode', 'receiver_type'] as const
export type UsageKey = (typeof USAGE_KEYS)[number]

type UsageKeys = Partial<Record<UsageKey, string>>

export type UsageRow = UsageKeys &
  ReturnType<typeof sumsView> & {
    /** Calls that callwatch noticed more than five minutes after they finished. */
    noticed_late: number
  }

export type UsageQuery = Period & {
  by: readonly UsageKey[]
  /** An IANA name. Days begin and end in this time zone. */
  zone: string
  /** Names of targets; undefined for all. */
  targets?: readonly string[] | undefined
  /** Aborted if the report is no longer wanted. Then nothing further is read. */
  aborted?: AbortSignal | undefined
}

/**
 * What finished in a period: one row for each combination of keys that has calls, in the order of the keys. Without keys, one
 * row.
 *
 * @throws {StoreError} if the store cannot be read now
 */
export async function usageOf(store: RowReader, query: UsageQuery): Promise<UsageRow[]> {
  const { by, zone, targets, aborted } = query
  const scope = await historyScope(store, { targets }, query.from)
  const period = withCalls(scope, query)
  const days = by.includes('day') ? daysOf(period, zone) : []
  const rows = new Map<string, { keys: UsageKeys; sums: Sums }>()
  const sumsOf = (day: number, target: number, code: number): Sums => {
    const { type, mode, receiverType } = labelsOfCode(code)
    const all = { day: days[day]?.name, target: scope.names.get(target), type, mode, receiver_type: receiverType }
    const keys = Object.fromEntries(by.map((key) => [key, all[key]!]))
    // Rows are sorted by their names.
    const name = Object.values(keys).join('\0')
    const row = rows.get(name) ?? { keys, sums: new Map() }
    rows.set(name, row)
    return row.sums
  }
  if (by.length === 0) sumsOf(0, ALL_TARGETS, 0)
  /** By day and target, the sums by label code. A rollup has thousands of keys. */
  const known = new Map<string, Sums[]>()
  await readRollups(
    store,
    {
      scope,
      period,
      byTarget: by.includes('target'),
      byLabels: by.some((key) => key !== 'day' && key !== 'target'),
      partAt: (at) => days.findLastIndex(({ from }) => from <= at),
      aborted,
    },
    (day, target) => {
      const place = `${day} ${target}`
      const ofPlace = known.get(place) ?? []
      known.set(place, ofPlace)
      return (code, key, n) => {
        if (key < KEYS.began) add((ofPlace[code] ??= sumsOf(day, target, code)), key, n)
      }
    },
  )
  return [...rows]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { keys, sums }]) => ({ ...keys, ...sumsView(sums), noticed_late: amountOf(sums, 'late') }))
}
