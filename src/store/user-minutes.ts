import { QUARTER_HOUR_SECONDS } from '../ledger/usage.ts'
import { CALL_VALUES } from './call-columns.ts'
import { OF_TARGET, type RowReader } from './sql.ts'

/**
 * The user minutes of a target by the quarter of an hour in which callwatch noticed the end of the call (ledger/usage.ts).
 *
 * @param since when the earliest end was noticed (UNIX seconds)
 * @param lookback how long before that a call may have ended (seconds)
 * @returns undefined if a call whose end was noticed since then may have been deleted
 * @throws {StoreError} if the store cannot be read now
 */
export async function userMinutesSince(store: RowReader, target: string, since: number, lookback: number) {
  const expiring = 'SELECT 1 FROM callwatch.targets WHERE name = $1 AND expired >= $2'
  const expired = await store.rows(expiring, [target, since - lookback])
  if (expired.length > 0) return undefined
  const rows = await store.rows(
    `SELECT floor(finish_known / ${QUARTER_HOUR_SECONDS}) * ${QUARTER_HOUR_SECONDS} AS quarter, sum(${CALL_VALUES.user_minutes}) AS minutes
    FROM callwatch.calls WHERE ${OF_TARGET} AND finish_known >= $2 GROUP BY 1 ORDER BY 1`,
    [target, since],
  )
  return new Map(rows.map(({ quarter, minutes }) => [Number(quarter), Number(minutes)]))
}
