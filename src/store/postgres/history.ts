import type { Clock } from '../../clock/clock.ts'
import { statusCode } from '../../ledger/call-codes.ts'
import { FINISH_STATUS_AT } from '../../ledger/call-record.ts'
import { countByStatus, type FinishedCounts } from '../../ledger/finished-calls.ts'
import type { TrackedCall } from '../../ledger/tracked-call.ts'
import { USAGE_KEPT } from '../../ledger/usage.ts'
import { callOf } from '../call-row.ts'
import { settledOf } from '../settled.ts'
import type { HistoryQuery } from '../store.ts'
import type { Session } from './connection.ts'

/** Runs work in a transaction. */
type AllOrNothing = <T>(work: (session: Session) => Promise<T>) => Promise<T>

/** Rows that are trimmed at a time. */
const MOST_TRIMMED = 10_000

/** So long at most it is gone on with, batch after batch (seconds): others wait for the disk meanwhile. */
const LONGEST_TRIM = 5

/** How long it is known what was committed (minutes): longer than anybody who follows goes without asking. */
const LOG_KEPT = 10

/** How the call was counted as finished, where that is asked for ($4), and what comes after a position ($5 to $7). */
const PICKED = `finished >= $1 AND ($4::int IS NULL OR get_byte(data, ${FINISH_STATUS_AT}) = $4)
  AND finished <= $5 AND (finished < $5 OR (name COLLATE "C", id COLLATE "C") > ($6, $7))`
const ORDER = 'ORDER BY finished DESC, id COLLATE "C"'

/** The newest of each target, by the index, and of these the newest. */
const FINISHED = `
  SELECT name, id, data
  FROM callwatch.targets, LATERAL (
    (SELECT id, data, finished FROM callwatch.calls
      WHERE target = number AND remembered AND ${PICKED} ${ORDER} LIMIT $2)
    UNION ALL
    (SELECT id, data, finished FROM callwatch.calls
      WHERE target = number AND NOT remembered AND ${PICKED} ${ORDER} LIMIT $2)
  ) AS newest
  WHERE $3::text IS NULL OR name = $3
  ORDER BY finished DESC, name COLLATE "C", id COLLATE "C" LIMIT $2`

export async function finishedCalls(
  session: Session,
  { since, limit, target, status, after }: HistoryQuery,
): Promise<{ target: string; call: TrackedCall }[]> {
  const rows = await session.run(FINISHED, [
    since,
    Math.floor(limit),
    target ?? null,
    status === undefined ? null : statusCode(status),
    after?.at ?? Infinity,
    after?.target ?? '',
    after?.id ?? '',
  ])
  return rows.map((row) => ({ target: String(row['name']), call: callOf(row) }))
}

/** Rows of calls that were counted and evicted, by id: those of these ids that the history still has. */
export async function evictedCalls(
  session: Session,
  target: string,
  ids: readonly string[],
): Promise<Map<string, TrackedCall>> {
  const rows = await session.run(
    `SELECT id, data FROM callwatch.calls
    WHERE target = (SELECT number FROM callwatch.targets WHERE name = $1) AND id = ANY ($2::text[]) AND NOT remembered`,
    [target, ids],
  )
  return new Map(rows.map((row) => [String(row['id']), callOf(row)]))
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

/** Calls are trimmed fewer at a time: their targets cannot be committed meanwhile. */
const MOST_CALLS = 2000
const OLD = `SELECT target, id FROM callwatch.calls WHERE NOT remembered AND finished < $1 ORDER BY finished LIMIT ${MOST_CALLS}`
/** In one order, and before anything else, as commits do: what two wait for each other for would be refused to one. */
const HOLD_TARGETS = `SELECT number FROM callwatch.targets WHERE number IN (SELECT target FROM (${OLD}) AS old) ORDER BY number FOR UPDATE`
const DELETE_CALLS = `
  DELETE FROM callwatch.calls WHERE (target, id) IN (${OLD}) AND target = ANY ($2::int[]) RETURNING target, id, data`
const SETTLE = `
  UPDATE callwatch.settled AS sum SET value = sum.value + more
  FROM unnest($1::int[], $2::text[], $3::float8[]) AS given (target, quantity, more)
  WHERE sum.target = given.target AND sum.quantity = given.quantity`

/** Removes a batch of calls, notes what was counted of them, and says how many. */
async function trimCalls({ run }: Session, before: number): Promise<number> {
  const held = await run(HOLD_TARGETS, [before])
  if (held.length === 0) return 0
  const deleted = await run(DELETE_CALLS, [before, held.map(({ number }) => Number(number))])
  const byTarget = Map.groupBy(deleted, ({ target }) => Number(target))
  const settled = [...byTarget].flatMap(([target, rows]) =>
    settledOf(rows.map(callOf)).map(([quantity, amount]) => ({ target, quantity, amount })),
  )
  await run(SETTLE, [
    settled.map(({ target }) => target),
    settled.map(({ quantity }) => quantity),
    settled.map(({ amount }) => amount),
  ])
  return deleted.length
}

/**
 * Removes what is older than `before` (UNIX seconds), and of the log of commits what nobody asks for any more. What is too
 * much for one time is left for the next.
 */
export async function trimHistory(
  session: Session,
  before: number,
  clock: Clock,
  allOrNothing: AllOrNothing,
): Promise<void> {
  const { run } = session
  const begun = clock.monotonic()
  const trims = [
    [TRIM_COMMITS, LOG_KEPT],
    // Whole numbers, as the columns are: what lies before a moment lies before the next whole second.
    [TRIM_EVALUATIONS, Math.ceil(before)],
    [TRIM_USAGE, Math.ceil(before - USAGE_KEPT)],
  ] as const
  for (const [trim, limit] of trims) {
    let trimmed: number
    do {
      const [row] = await run(trim, [limit])
      trimmed = Number(row!['n'])
    } while (trimmed === MOST_TRIMMED && clock.monotonic() - begun < LONGEST_TRIM)
  }
  let trimmed: number
  do trimmed = await allOrNothing((trimming) => trimCalls(trimming, before))
  while (trimmed === MOST_CALLS && clock.monotonic() - begun < LONGEST_TRIM)
}
