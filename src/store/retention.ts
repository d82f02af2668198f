import type { Clock } from '../clock/clock.ts'
import { QUANTITIES, sumOfAmounts } from '../ledger/balance.ts'
import { quarterHourOf, USAGE_RETENTION_SECONDS } from '../ledger/usage.ts'
import { CALL_COLUMNS, callOfRow, computedColumns } from './call-columns.ts'
import type { Cluster } from './cluster.ts'
import { markStale } from './rollups.ts'
import type { Sql, Step, Value } from './sql.ts'
import type { RetentionStore } from './store.ts'
import { deleteTarget } from './targets.ts'

/** How many rows are deleted at a time. Their targets cannot be committed meanwhile, and everything else waits for the disk. */
const DELETED_AT_ONCE = 2000

/** A deletion begins no further batch after this time. */
const MAX_DELETION_SECONDS = 5

/**
 * Deletes a batch of rows, oldest first. Several daemons may do so at once: each skips rows that another one has locked.
 */
const deleteFrom = (table: string, key: string, age: string, isOld = `${age} < $1::float8`) => `
  DELETE FROM callwatch.${table} WHERE (${key}) IN (
    SELECT ${key} FROM callwatch.${table} WHERE ${isOld} ORDER BY ${age} LIMIT ${DELETED_AT_ONCE} FOR UPDATE SKIP LOCKED)
  RETURNING 1`
/** Gaps are kept as long as calls from before their end. */
const IS_OLD_GAP =
  'ended < $1::float8 AND NOT EXISTS (SELECT 1 FROM callwatch.calls WHERE calls.target = gaps.target AND finished < gaps.ended)'

const WITH_OLD_CALLS = `
  SELECT number FROM callwatch.targets
  WHERE EXISTS (SELECT 1 FROM callwatch.calls WHERE target = number AND NOT tracked AND finished < $1::float8) ORDER BY number`
/** Locks targets before any other rows, as commits do, so that two transactions cannot deadlock. */
const LOCK = 'SELECT number FROM callwatch.targets WHERE number = $1 FOR UPDATE'
const DELETE_CALLS = `
  DELETE FROM callwatch.calls WHERE (target, id) IN (
    SELECT target, id FROM callwatch.calls WHERE target = $1::int AND NOT tracked AND finished < $2::float8
    ORDER BY finished LIMIT ${DELETED_AT_ONCE})
  RETURNING finished, ${CALL_COLUMNS.join(', ')}`
/** Notes that calls up to this time may have been deleted, so reports of that time are incomplete. */
const NOTE_EXPIRED =
  'UPDATE callwatch.targets SET expired = greatest(coalesce(expired, 0), $2::float8) WHERE number = $1'
const ADD_TOTALS = `
  UPDATE callwatch.deleted_call_totals AS total SET value = total.value + more
  FROM given(target int, quantity text, more float8) WHERE total.target = given.target AND total.quantity = given.quantity`

const LONG_REMOVED = 'SELECT number FROM callwatch.targets WHERE removed < $1::float8 LIMIT 1 FOR UPDATE SKIP LOCKED'

/** Reads few rows, because most newest ends are of the service. */
const NEWEST = `
  SELECT max(newest) AS newest FROM (
    SELECT (
      SELECT finished FROM (
        SELECT finished, ${computedColumns('noticed')} FROM callwatch.calls
        WHERE target = number AND finished IS NOT NULL ORDER BY finished DESC LIMIT 1000
      ) AS latest WHERE finished < noticed ORDER BY finished DESC LIMIT 1
    ) AS newest FROM callwatch.targets
  ) AS each_target`

export function retention(
  sql: Sql,
  { clock, cluster }: { clock: Clock; cluster: Cluster | undefined },
): RetentionStore {
  /** Deletes a batch of evicted calls, adds their counted amounts to the totals, and returns the number of calls. */
  const deleteCalls = (number: number, before: number) =>
    sql.transaction(async (deleting) => {
      await deleting.all(LOCK, [number])
      const [deleted] = await deleting.batch([{ statement: DELETE_CALLS, args: [number, before] }])
      const times = deleted!.map(({ finished }) => Number(finished))
      const sums = sumOfAmounts(deleted!.map(callOfRow))
      const totals = QUANTITIES.map((quantity, i): Value[] => [number, quantity, sums[i]!])
      if (times.length > 0) {
        await deleting.batch([
          { statement: NOTE_EXPIRED, args: [number, Math.max(...times)] },
          markStale([...new Set(times.map(quarterHourOf))].map((quarter) => [number, quarter])),
          { statement: ADD_TOTALS, given: totals },
        ])
      }
      return times.length
    })

  return {
    newestEnd: async () => {
      const [row] = await sql.all(NEWEST)
      return row?.['newest'] == null ? undefined : Number(row['newest'])
    },
    deleteExpired: async (before) => {
      const begun = clock.monotonic()
      const repeat = async (batch: () => Promise<number>) => {
        while ((await batch()) === DELETED_AT_ONCE && clock.monotonic() - begun < MAX_DELETION_SECONDS);
      }
      const deletions: readonly Step[] = [
        { statement: deleteFrom('alert_episodes', 'target, alert, since', 'until'), args: [before] },
        { statement: deleteFrom('silences', 'id', 'until'), args: [before] },
        { statement: deleteFrom('gaps', 'target, ended', 'ended', IS_OLD_GAP), args: [before] },
        { statement: deleteFrom('evaluations', 'target, hour', 'hour'), args: [before] },
        // None is so long: its clock was wrong.
        { statement: deleteFrom('pauses', 'key', 'until', 'until > $1::float8'), args: [clock.wall() + 2 * 3600] },
        { statement: deleteFrom('usage', 'target, quarter', 'quarter'), args: [before - USAGE_RETENTION_SECONDS] },
      ]
      for (const step of deletions) await repeat(async () => (await sql.batch([step]))[0]!.length)
      const withOld = (await sql.all(WITH_OLD_CALLS, [before])).map(({ number }) => Number(number))
      // In another order each time, so that every target gets its turn.
      const first = Math.floor(begun) % Math.max(1, withOld.length)
      for (const number of [...withOld.slice(first), ...withOld.slice(0, first)]) {
        await repeat(() => deleteCalls(number, before))
        if (clock.monotonic() - begun >= MAX_DELETION_SECONDS) break
      }
      if ((await sql.all(LONG_REMOVED, [before])).length === 0) return
      await sql.transaction(async (deleting) => {
        for (const { number } of await deleting.all(LONG_REMOVED, [before]))
          await deleting.batch(deleteTarget(Number(number), cluster))
      }, 'long')
    },
  }
}
