import type { Clock } from '../../clock/clock.ts'
import { statusCode } from '../../ledger/call-codes.ts'
import { FINISH_STATUS_AT } from '../../ledger/call-record.ts'
import { countByStatus, type FinishedCounts } from '../../ledger/finished-calls.ts'
import type { TrackedCall } from '../../ledger/tracked-call.ts'
import { USAGE_KEPT } from '../../ledger/usage.ts'
import { callOf } from '../call-row.ts'
import type { HistoryQuery } from '../store.ts'
import type { Session } from './connection.ts'

/** Rows that are trimmed at a time. */
const MOST_TRIMMED = 10_000

/** So long at most it is gone on with, batch after batch (seconds): others wait for the disk meanwhile. */
const LONGEST_TRIM = 5

/** How long it is known what was committed (minutes): longer than anybody who follows goes without asking. */
const LOG_KEPT = 10

/** How the call was counted as finished, where that is asked for ($4). */
const PICKED = `($4::int IS NULL OR get_byte(data, ${FINISH_STATUS_AT}) = $4)`

/** The newest of each target, by the index, and of these the newest. */
const FINISHED = `
  SELECT name, id, data
  FROM callwatch.targets, LATERAL (
    (SELECT id, data, finished FROM callwatch.calls
      WHERE target = number AND remembered AND finished >= $1 AND ${PICKED} ORDER BY finished DESC LIMIT $2)
    UNION ALL
    (SELECT id, data, finished FROM callwatch.calls
      WHERE target = number AND NOT remembered AND finished >= $1 AND ${PICKED} ORDER BY finished DESC LIMIT $2)
  ) AS newest
  WHERE $3::text IS NULL OR name = $3
  ORDER BY finished DESC, name LIMIT $2`

export async function finishedCalls(
  session: Session,
  { since, limit, target, status }: HistoryQuery,
): Promise<{ target: string; call: TrackedCall }[]> {
  const rows = await session.run(FINISHED, [
    since,
    Math.floor(limit),
    target ?? null,
    status === undefined ? null : statusCode(status),
  ])
  return rows.map((row) => ({ target: String(row['name']), call: callOf(row) }))
}

export async function countFinished(
  session: Session,
  target: string,
  from: number,
  to: number,
): Promise<FinishedCounts> {
  const rows = await session.run(
    `SELECT id, data FROM callwatch.calls
    WHERE target = (SELECT number FROM callwatch.targets WHERE name = $1) AND finished >= $2 AND finished < $3`,
    [target, from, to],
  )
  return countByStatus(rows.map((row) => ({ status: callOf(row).finish!.status, n: 1 })))
}

/**
 * Removes a batch of rows, the oldest first, and says how many. Several daemons may be at it: each takes what no other has,
 * or what is locked would be waited for.
 */
const trimOf = (table: string, key: string, age: string, isOld: string) => `
  WITH trimmed AS (
    DELETE FROM callwatch.${table} WHERE (${key}) IN (
      SELECT ${key} FROM callwatch.${table} WHERE ${isOld} ORDER BY ${age} LIMIT ${MOST_TRIMMED} FOR UPDATE SKIP LOCKED)
    RETURNING 1
  )
  SELECT count(*)::int AS n FROM trimmed`

const TRIM_COMMITS = trimOf('commits', 'target, seq', 'at', "at < statement_timestamp() - $1 * interval '1 minute'")
const TRIM_EVALUATIONS = trimOf('evaluations', 'target, hour', 'hour', 'hour < $1')
const TRIM_USAGE = trimOf('usage', 'target, quarter', 'quarter', 'quarter < $1')
const TRIM_CALLS = trimOf('calls', 'target, id', 'finished', 'NOT remembered AND finished < $1')

/**
 * Removes what is older than `before` (UNIX seconds), and of the log of commits what nobody asks for any more. What is too
 * much for one time is left for the next.
 */
export async function trimHistory({ run }: Session, before: number, clock: Clock): Promise<void> {
  const begun = clock.monotonic()
  const trims = [
    [TRIM_COMMITS, LOG_KEPT],
    // Whole numbers, as the columns are: what lies before a moment lies before the next whole second.
    [TRIM_EVALUATIONS, Math.ceil(before)],
    [TRIM_USAGE, Math.ceil(before - USAGE_KEPT)],
    [TRIM_CALLS, before],
  ] as const
  for (const [trim, limit] of trims) {
    let trimmed: number
    do {
      const [row] = await run(trim, [limit])
      trimmed = Number(row!['n'])
    } while (trimmed === MOST_TRIMMED && clock.monotonic() - begun < LONGEST_TRIM)
  }
}
