import type { RowReader } from '../store/row-reader.ts'
import { conditionsOf, queryArguments, type CallFilter } from './call-filter.ts'
import type { Period } from './days.ts'

/** When the oldest and the newest call of a history finished, of those since a moment (UNIX seconds); infinite of none. */
export async function historyRange(store: RowReader, since: number): Promise<{ oldest: number; newest: number }> {
  const [row] = await store.rows(
    `SELECT min((SELECT min(finished) FROM callwatch.calls WHERE target = number AND finished >= $1)) AS oldest,
      max((SELECT max(finished) FROM callwatch.calls WHERE target = number AND finished >= $1)) AS newest
    FROM callwatch.targets`,
    [since],
  )
  const numberOf = (value: unknown, otherwise: number) => Number(value ?? otherwise)
  return { oldest: numberOf(row?.['oldest'], Infinity), newest: numberOf(row?.['newest'], -Infinity) }
}

/** How many calls of the targets of a filter finished in a period, whatever else it selects: the index alone is read. */
export async function countFinished(
  store: RowReader,
  { targets }: Pick<CallFilter, 'targets'>,
  { from, to }: Period,
): Promise<number> {
  const { args, add } = queryArguments()
  const [row] = await store.rows(
    `SELECT count(*) AS n FROM callwatch.targets CROSS JOIN callwatch.calls
    WHERE ${conditionsOf({ targets }, add)} AND finished >= ${add(from)} AND finished < ${add(to)}`,
    args,
  )
  return Number(row?.['n'])
}
