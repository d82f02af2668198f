import type { RowReader } from '../store/row-reader.ts'

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
