import { LOST_CODE, finalStatusOf, labelsOfCode } from '../ledger/call-codes.ts'
import { addCall, keptFinishes, type Period } from '../ledger/finished-calls.ts'
import { sessionOf } from '../ledger/identity.ts'
import { addUp } from '../ledger/summed-calls.ts'
import type { TrackedCall } from '../ledger/tracked-call.ts'
import { CALL_COLUMNS, callOf, callOfRow, IS_OPEN } from './call-columns.ts'
import { batched } from './batched.ts'
import { OF_TARGET, list, type Sql } from './sql.ts'
import type { HistoryStore } from './store.ts'

const COLUMNS = CALL_COLUMNS.join(', ')

const COUNT_PER_MINUTE = `
  SELECT target, floor((finished - $2::float8) / 60) AS minute, status, count(*) AS n FROM callwatch.calls
  WHERE target IN wholes($1) AND finished >= $2::float8 AND finished < $3::float8 AND status <> ${LOST_CODE} GROUP BY 1, 2, 3`
/** Reads only the index. */
const SUM = `
  SELECT status, labels, count(*) AS n FROM callwatch.calls
  WHERE ${OF_TARGET} AND finished >= $2::float8 AND finished < $3::float8 AND status <> ${LOST_CODE} GROUP BY 1, 2`
const OPEN = `
  SELECT name, ${COLUMNS} FROM callwatch.targets CROSS JOIN callwatch.calls
  WHERE target = number AND name IN texts($1) AND ${IS_OPEN}`

const GAPS = `SELECT began, ended FROM callwatch.gaps WHERE ${OF_TARGET} AND ended - began > $2::float8`
const EXPIRED = 'SELECT expired FROM callwatch.targets WHERE name = $1 AND expired IS NOT NULL'

/** The most keys in one query. */
const BATCH = 200

/** Reads calls of a target by their sessions: tracked ones, or evicted ones that the history still has. */
export function callsBySession(sql: Sql, kind: 'tracked' | 'NOT tracked') {
  const query = ['id IN texts($2)', 'session IN texts($2)']
    .map((are) => `SELECT ${COLUMNS} FROM callwatch.calls WHERE ${OF_TARGET} AND ${are} AND ${kind}`)
    .join(' UNION ALL ')
  return async (target: string, sessions: readonly string[]): Promise<Map<string, TrackedCall[]>> =>
    Map.groupBy((await sql.all(query, [target, list(sessions)])).map(callOfRow), sessionOf)
}

function earlierCallsIn(sql: Sql): HistoryStore['earlierCalls'] {
  return async (target, periods, lookback) => {
    const finished = keptFinishes()
    const isInside = periods.map((_, i) => `finished BETWEEN $${2 * i + 2}::float8 AND $${2 * i + 3}::float8`)
    const query = `SELECT ${COLUMNS} FROM callwatch.calls WHERE ${OF_TARGET} AND (${isInside.join(' OR ')}) AND status <> ${LOST_CODE}`
    const [gaps] = await Promise.all([
      gapsOf(sql, target, lookback),
      sql.each(query, [target, ...periods.flatMap(({ from, to }) => [from, to])], (values) =>
        addCall(finished, callOf(values)),
      ),
    ])
    return { finished, periods, gaps }
  }
}

/** The daemon's queries of calls and usage, and the pauses of rate limits. */
export function history(sql: Sql, isEager = false): HistoryStore {
  const pausedUntil = batched(
    async (keys: readonly string[]) => {
      const rows = await sql.all('SELECT key, until FROM callwatch.pauses WHERE key IN texts($1)', [list(keys)])
      const found = new Map(rows.map(({ key, until }) => [key, Number(until)]))
      return keys.map((key) => found.get(key))
    },
    { most: BATCH, isEager },
  )
  return {
    evictedCalls: callsBySession(sql, 'NOT tracked'),
    earlierCalls: earlierCallsIn(sql),
    summedCalls: async (target, { from, to }) => {
      const rows = await sql.all(SUM, [target, from, to])
      const tallies = rows.map(({ status, labels, n }) => ({
        status: finalStatusOf(Number(status)),
        labels: labelsOfCode(Number(labels)),
        n: Number(n),
      }))
      return { from, to, tallies: addUp(tallies) }
    },
    finishedPerMinute: async (targets, from, minutes) => {
      const found = await sql.all('SELECT number, name FROM callwatch.targets WHERE name IN texts($1)', [list(targets)])
      const names = new Map(found.map(({ number, name }) => [Number(number), String(name)]))
      const rows = await sql.all(COUNT_PER_MINUTE, [list(names.keys()), from, from + 60 * minutes])
      return rows.map(({ target, minute, status, n }) => ({
        target: names.get(Number(target))!,
        minute: Number(minute),
        status: finalStatusOf(Number(status)),
        n: Number(n),
      }))
    },
    openCalls: async (targets) => {
      const calls: { target: string; call: TrackedCall }[] = []
      await sql.each(OPEN, [list(targets)], ([target, ...values]) =>
        calls.push({ target: String(target), call: callOf(values) }),
      )
      return calls
    },
    pausedUntil,
    pauseUntil: async (key, until) => {
      const statement = `
        INSERT INTO callwatch.pauses AS known (key, until) VALUES ($1, $2::float8)
        ON CONFLICT (key) DO UPDATE SET until = greatest(known.until, excluded.until)`
      await sql.batch([{ statement, args: [key, until] }])
    },
  }
}

/**
 * The times for which not all calls of a target are known: before the oldest kept call, and while nothing was polled for longer than the
 * list shows calls.
 */
export async function gapsOf(sql: Pick<Sql, 'all'>, target: string, lookback: number): Promise<Period[]> {
  const gaps = await sql.all(GAPS, [target, lookback])
  const [deleted] = await sql.all(EXPIRED, [target])
  // Other calls of the second in which the last deleted call finished may be deleted as well.
  const expired = deleted === undefined ? [] : [{ from: -Infinity, to: Math.floor(Number(deleted['expired'])) + 1 }]
  return [...expired, ...gaps.map(({ began, ended }) => ({ from: Number(began), to: Number(ended) }))]
}
