import type { Clock } from '../../clock/clock.ts'
import { finalStatusOf } from '../../ledger/call-codes.ts'
import { LOST_CODE } from '../../ledger/history-columns.ts'
import { countByStatus, type FinishedCounts } from '../../ledger/finished-calls.ts'
import type { TrackedCall } from '../../ledger/tracked-call.ts'
import { quarterHourOf, USAGE_RETENTION_SECONDS } from '../../ledger/usage.ts'
import { callOf, deletedCallTotalsOf } from '../rows.ts'
import type { MinuteCount } from '../store.ts'
import type { Session } from './connection.ts'
import { markStale } from './rollups.ts'

/** Runs work in a transaction. */
type AllOrNothing = <T>(work: (session: Session) => Promise<T>) => Promise<T>

/** Rows that are deleted at a time. */
const ROWS_AT_ONCE = 10_000

/** No batch of a deletion begins later than this: everything else waits for the disk meanwhile. */
const MAX_DELETION_SECONDS = 5

/** How long commits are kept. */
const COMMITS_KEPT_MINUTES = 10

/** Rows of calls that were counted and evicted, by id: those of these ids that the history still has. */
export async function evictedCalls(
  session: Session,
  target: string,
  ids: readonly string[],
): Promise<Map<string, TrackedCall>> {
  const rows = await session.run(
    `SELECT id, data FROM callwatch.calls
    WHERE target = (SELECT number FROM callwatch.targets WHERE name = $1) AND id = ANY ($2::text[]) AND NOT tracked`,
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
    `SELECT status, count(*)::int AS n FROM callwatch.calls
    WHERE target = (SELECT number FROM callwatch.targets WHERE name = $1)
      AND finished >= $2 AND finished < $3 AND status <> ${LOST_CODE}
    GROUP BY status`,
    [target, from, to],
  )
  return countByStatus(rows.map(({ status, n }) => ({ status: finalStatusOf(Number(status)), n: Number(n) })))
}

/** Each target's calls are read by the index. */
const FINISHED_PER_MINUTE = `
  SELECT name, floor((finished - $2::float8) / 60)::int AS minute, status, count(*)::int AS n
  FROM callwatch.targets, LATERAL (
    SELECT finished, status FROM callwatch.calls
    WHERE target = number AND finished >= $2 AND finished < $3::float8 AND status <> ${LOST_CODE}
  ) AS of_target
  WHERE name = ANY ($1::text[])
  GROUP BY 1, 2, 3`

export async function finishedPerMinute(
  session: Session,
  targets: readonly string[],
  from: number,
  minutes: number,
): Promise<MinuteCount[]> {
  const rows = await session.run(FINISHED_PER_MINUTE, [targets, from, from + 60 * minutes])
  return rows.map(({ name, minute, status, n }) => ({
    target: String(name),
    minute: Number(minute),
    status: finalStatusOf(Number(status)),
    n: Number(n),
  }))
}

export async function openCalls(
  session: Session,
  targets: readonly string[],
): Promise<{ target: string; call: TrackedCall }[]> {
  const rows = await session.run(
    `SELECT name, id, data FROM callwatch.targets JOIN callwatch.calls ON target = number
    WHERE name = ANY ($1::text[]) AND is_open`,
    [targets],
  )
  return rows.map((row) => ({ target: String(row['name']), call: callOf(row) }))
}

export async function usedMinutes(session: Session, target: string, from: number, to: number): Promise<number> {
  // Quarters are whole numbers. They are added up in the order in which a daemon does, for the same last digit.
  const [row] = await session.run(
    `SELECT coalesce(sum(minutes ORDER BY quarter), 0) AS sum FROM callwatch.usage
    WHERE target = (SELECT number FROM callwatch.targets WHERE name = $1) AND quarter >= $2::bigint AND quarter < $3::bigint`,
    [target, Math.ceil(from), Math.ceil(to)],
  )
  return Number(row!['sum'])
}

/**
 * Deletes a batch of rows, the oldest first, and returns how many. Several daemons may do so at once: each skips rows that
 * another one has locked.
 */
const deleteFrom = (table: string, key: string, age: string, isOld: string) => `
  WITH deleted AS (
    DELETE FROM callwatch.${table} WHERE (${key}) IN (
      SELECT ${key} FROM callwatch.${table} WHERE ${isOld} ORDER BY ${age} LIMIT ${ROWS_AT_ONCE} FOR UPDATE SKIP LOCKED)
    RETURNING 1
  )
  SELECT count(*)::int AS n FROM deleted`

const DELETE_COMMITS = deleteFrom(
  'commits',
  'target, seq',
  'at',
  "at < statement_timestamp() - $1 * interval '1 minute'",
)
const DELETE_EVALUATIONS = deleteFrom('evaluations', 'target, hour', 'hour', 'hour < $1')
const DELETE_EPISODES = deleteFrom('alert_episodes', 'target, alert, since', 'until', 'until < $1')
const DELETE_SILENCES = deleteFrom('silences', 'id', 'until', 'until < $1')
/** The calls of before its end are not known whole without it. */
const IS_OLD_GAP =
  'ended < $1 AND NOT EXISTS (SELECT FROM callwatch.calls WHERE calls.target = gaps.target AND finished < ended)'
const DELETE_GAPS = deleteFrom('gaps', 'target, ended', 'ended', IS_OLD_GAP)
const DELETE_USAGE = deleteFrom('usage', 'target, quarter', 'quarter', 'quarter < $1')

/** Fewer calls at a time: their targets cannot be committed meanwhile. */
const CALLS_AT_ONCE = 2000
const OLD = `SELECT target, id FROM callwatch.calls WHERE NOT tracked AND finished < $1 ORDER BY finished LIMIT ${CALLS_AT_ONCE}`
/** In one order, and before any other row, as commits do: else two transactions could deadlock. */
const LOCK_TARGETS = `SELECT number FROM callwatch.targets WHERE number IN (SELECT target FROM (${OLD}) AS old) ORDER BY number FOR UPDATE`
const DELETE_CALLS = `
  DELETE FROM callwatch.calls WHERE (target, id) IN (${OLD}) AND target = ANY ($2::int[]) RETURNING target, id, data, finished`
const NOTE_EXPIRED = `
  UPDATE callwatch.targets SET expired = greatest(expired,
    (SELECT max(finished) FROM unnest($1::int[], $2::float8[]) AS deleted (target, finished) WHERE target = number))
  WHERE number = ANY ($1::int[])`
const ADD_DELETED_CALL_TOTALS = `
  UPDATE callwatch.deleted_call_totals AS sum SET value = sum.value + more
  FROM unnest($1::int[], $2::text[], $3::float8[]) AS given (target, quantity, more)
  WHERE sum.target = given.target AND sum.quantity = given.quantity`

const MARK_STALE = markStale(
  '(SELECT DISTINCT quarter, target FROM unnest($1::bigint[], $2::int[]) AS given (quarter, target))',
)

/** Deletes a batch of evicted calls, adds up what was counted of them, and returns how many. */
async function deleteCalls({ run }: Session, before: number): Promise<number> {
  const locked = await run(LOCK_TARGETS, [before])
  if (locked.length === 0) return 0
  const deleted = await run(DELETE_CALLS, [before, locked.map(({ number }) => Number(number))])
  const byTarget = Map.groupBy(deleted, ({ target }) => Number(target))
  const totals = [...byTarget].flatMap(([target, rows]) =>
    deletedCallTotalsOf(rows.map(callOf)).map(([quantity, amount]) => ({ target, quantity, amount })),
  )
  const [numbers, times] = [
    deleted.map(({ target }) => Number(target)),
    deleted.map(({ finished }) => Number(finished)),
  ]
  await run(NOTE_EXPIRED, [numbers, times])
  await run(MARK_STALE, [times.map(quarterHourOf), numbers])
  await run(ADD_DELETED_CALL_TOTALS, [
    totals.map(({ target }) => target),
    totals.map(({ quantity }) => quantity),
    totals.map(({ amount }) => amount),
  ])
  return deleted.length
}

/**
 * Deletes rows that are older than `before` (UNIX seconds), and old commits of the log. What is too much for one time is left
 * for the next.
 */
export async function deleteExpired(
  session: Session,
  before: number,
  clock: Clock,
  allOrNothing: AllOrNothing,
): Promise<void> {
  const { run } = session
  const begun = clock.monotonic()
  const deletions = [
    [DELETE_COMMITS, COMMITS_KEPT_MINUTES],
    [DELETE_EPISODES, before],
    [DELETE_SILENCES, before],
    [DELETE_GAPS, before],
    // Whole numbers, as the columns are: what lies before a moment lies before the next whole second.
    [DELETE_EVALUATIONS, Math.ceil(before)],
    [DELETE_USAGE, Math.ceil(before - USAGE_RETENTION_SECONDS)],
  ] as const
  const repeat = async (batch: () => Promise<number>, most: number) => {
    while ((await batch()) === most && clock.monotonic() - begun < MAX_DELETION_SECONDS);
  }
  for (const [statement, limit] of deletions)
    await repeat(async () => Number((await run(statement, [limit]))[0]!['n']), ROWS_AT_ONCE)
  await repeat(() => allOrNothing((deleting) => deleteCalls(deleting, before)), CALLS_AT_ONCE)
}
