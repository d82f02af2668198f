import { knownNames } from '../schema/nearest-key.ts'
import { labelsOfCode } from '../ledger/call-codes.ts'
import type { RowReader } from '../store/sql.ts'
import { daysOf, type Period } from './days.ts'
import { historyScope, withCalls } from './history-scope.ts'
import { QueryError } from '../schema/query-error.ts'
import { ALL_TARGETS, readRollups } from './rollups.ts'
import { add, KEYS, type Sums } from './sums.ts'
import type { UsageKey } from './usage-keys.ts'

export type UsageKeys = Partial<Record<UsageKey, string>>

export type UsageRow = { keys: UsageKeys; sums: Sums }

export type UsageQuery = Period & {
  by: readonly UsageKey[]
  /** An IANA name. Days begin and end in this time zone. */
  zone: string
  /** Names of targets; undefined for all. */
  targets?: readonly string[] | undefined
  /** The app of a target, by its name; default: that name. */
  appOf?: ((target: string) => string) | undefined
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
  const { by, zone, targets, appOf = String, aborted } = query
  const scope = await historyScope(store, { targets }, query.from)
  const period = withCalls(scope, query)
  const days = by.includes('day') ? daysOf(period, zone) : []
  const rows = new Map<string, UsageRow>()
  const sumsOf = (day: number, target: number, code: number): Sums => {
    const { type, mode, receiverType } = labelsOfCode(code)
    const name = scope.names.get(target)
    const app = name && appOf(name)
    const all = { day: days[day]?.name, app, target: name, type, mode, receiver_type: receiverType }
    const keys = Object.fromEntries(by.map((key) => [key, all[key]!]))
    // Rows are sorted by their names.
    const id = Object.values(keys).join('\0')
    const row = rows.get(id) ?? { keys, sums: new Map() }
    rows.set(id, row)
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
      byTarget: by.includes('target') || by.includes('app'),
      byLabels: by.some((key) => key !== 'day' && key !== 'app' && key !== 'target'),
      partAt: (at) => days.findLastIndex(({ from }) => from <= at),
      aborted,
    },
    (day, target) => {
      const dayAndTarget = `${day} ${target}`
      const rowsByCode = known.get(dayAndTarget) ?? []
      known.set(dayAndTarget, rowsByCode)
      return (labels, key, n) => {
        if (key < KEYS.began) add((rowsByCode[labels] ??= sumsOf(day, target, labels)), key, n)
      }
    },
  )
  return [...rows].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
}

/** @throws {QueryError} for a target that neither the configuration nor the store has */
export async function expectTargets(
  store: RowReader,
  names: readonly string[],
  configured: readonly string[],
): Promise<void> {
  if (names.every((name) => configured.includes(name))) return
  const stored = await store.rows('SELECT name FROM callwatch.targets')
  const known = new Set([...configured, ...stored.map(({ name }) => String(name))])
  const unknown = names.find((name) => !known.has(name))
  if (unknown !== undefined) throw new QueryError(`there is no target ${unknown}; ${knownNames(unknown, [...known])}`)
}
