import type { Clock } from '../../clock/clock.ts'
import { statusCode } from '../../ledger/call-codes.ts'
import { FINISH_STATUS_AT } from '../../ledger/call-record.ts'
import { countByStatus, type FinishedCounts } from '../../ledger/finished-calls.ts'
import type { TrackedCall } from '../../ledger/tracked-call.ts'
import { USAGE_KEPT } from '../../ledger/usage.ts'
import { callOf } from '../call-row.ts'
import type { HistoryQuery } from '../store.ts'
import type { Session } from './connection.ts'

/** Calls that are trimmed at a time, the oldest first. */
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

/** Several daemons may be at it: each takes what no other has, or what is locked would be waited for. */
const TRIM = `
  WITH trimmed AS (
    DELETE FROM callwatch.calls WHERE (target, id) IN (
      SELECT target, id FROM callwatch.calls WHERE NOT remembered AND finished < $1
      ORDER BY finished LIMIT ${MOST_TRIMMED} FOR UPDATE SKIP LOCKED)
    RETURNING id
  )
  SELECT count(*)::int AS n FROM trimmed`

/**
 * Removes what is older than `before` (UNIX seconds), and of the log of commits what nobody asks for any more. Of calls that
 * are too many for one time, the rest is left for the next.
 */
export async function trimHistory({ run }: Session, before: number, clock: Clock): Promise<void> {
  const begun = clock.monotonic()
  await run('DELETE FROM callwatch.evaluations WHERE hour < $1', [before])
  await run('DELETE FROM callwatch.usage WHERE quarter < $1', [before - USAGE_KEPT])
  await run(`DELETE FROM callwatch.commits WHERE at < statement_timestamp() - interval '${LOG_KEPT} minutes'`)
  let trimmed: number
  do {
    const [row] = await run(TRIM, [before])
    trimmed = Number(row!['n'])
  } while (trimmed === MOST_TRIMMED && clock.monotonic() - begun < LONGEST_TRIM)
}
