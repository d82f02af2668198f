import { QUARTER_HOUR_SECONDS, quarterHourOf } from '../ledger/usage.ts'
import type { RowReader } from '../store/sql.ts'
import { callsQuery, select, type AddArgument, type CallFilter } from './call-filter.ts'
import type { Period } from './days.ts'

/** What a filter can find: the numbers of its targets in the store, and when their oldest and newest calls finished. */
export type HistoryScope = Awaited<ReturnType<typeof historyScope>>

/**
 * The end of a period that lasts until now. It is after the newest call, also if a clock was set back.
 *
 * @param now the service's clock (UNIX seconds)
 */
export function endOf({ newest }: Pick<HistoryScope, 'newest'>, now: number): number {
  return Math.max(now, Math.floor(newest) + 1)
}

/** Shortens a period to the quarters of an hour from the oldest to the newest call, so that nothing else is read. */
export function withCalls({ oldest, newest }: HistoryScope, { from, to }: Period): Period {
  return { from: Math.max(from, quarterHourOf(oldest)), to: Math.min(to, quarterHourOf(newest) + QUARTER_HOUR_SECONDS) }
}

/** @param since calls that finished before this are ignored (UNIX seconds) */
export async function historyScope(store: RowReader, { targets }: Pick<CallFilter, 'targets'>, since: number) {
  const rows = await store.rows(
    `SELECT name, number,
      (SELECT min(finished) FROM callwatch.calls WHERE target = number AND finished >= $1) AS oldest,
      (SELECT max(finished) FROM callwatch.calls WHERE target = number AND finished >= $1) AS newest
    FROM callwatch.targets`,
    [since],
  )
  const selected = rows.filter(({ name }) => targets?.includes(String(name)) !== false)
  const names = new Map(selected.map(({ number, name }) => [Number(number), String(name)]))
  return {
    numbers: [...names.keys()],
    /** The names of these targets, by their numbers. */
    names,
    /** Whether the store has no other targets. */
    isAll: targets === undefined,
    /** UNIX seconds; infinite if there is no call. */
    oldest: selected.reduce((oldest, row) => Math.min(oldest, Number(row['oldest'] ?? Infinity)), Infinity),
    newest: selected.reduce((newest, row) => Math.max(newest, Number(row['newest'] ?? -Infinity)), -Infinity),
  }
}

/** How many calls of these targets finished in a period, counted up to `most`. Reads only the index. */
export async function countFinished(
  store: RowReader,
  { numbers }: { numbers: readonly number[] },
  { from, to }: Period,
  most = Number.MAX_SAFE_INTEGER,
): Promise<number> {
  const within = (add: AddArgument) => `AND finished >= ${add(from)} AND finished < ${add(to)} LIMIT ${add(most)}`
  const found = callsQuery('1 AS one', {}, numbers, within)
  const [row] = await select(store, (add) => `SELECT count(*) AS n FROM (${found(add)}) AS found`)
  return Number(row?.['n'])
}
