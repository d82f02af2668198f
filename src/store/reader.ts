import { countedAmounts, QUANTITIES, type StoredBalance } from '../ledger/balance.ts'
import { trackedCalls, type TrackedCalls } from '../ledger/tracked-calls.ts'
import type { EvaluationRecord } from '../alerts/trigger.ts'
import type { SyncState } from '../ledger/state.ts'
import type { Finish } from '../ledger/tracked-call.ts'
import { BASELINE_CODE, LOST_CODE } from '../ledger/call-codes.ts'
import { CALL_COLUMNS, callOf } from './call-columns.ts'
import { HOUR, unpackEvaluations } from './evaluation-log.ts'
import { eventLog } from './events.ts'
import { callsBySession, gapsOf, history } from './history.ts'
import { silences } from './silences.ts'
import { OF_TARGET, parse, type Database } from './sql.ts'

const CALLS = `SELECT ${CALL_COLUMNS.join(', ')} FROM callwatch.calls WHERE ${OF_TARGET}`

/** The counted sums of all calls with a row, as in ledger/balance.ts amountsOf, in the order of QUANTITIES. */
const AMOUNTS = [
  `count(CASE WHEN status <> ${BASELINE_CODE} THEN 1 END)`,
  'count(finish_at)',
  ...['audio', 'video', 'participant_audio', 'participant_video'].map((name) => `coalesce(sum(${name}), 0)`),
].map((amount, i) => `${amount} AS amount_${i}`)
const BALANCE = `SELECT ${AMOUNTS.join(', ')} FROM callwatch.calls WHERE ${OF_TARGET}`

/** Reads a store while daemons use it. Every method rejects with a {@link StoreError} if the store cannot be read now. */
export type StoreReader = ReturnType<typeof readerOf>

export function readerOf(sql: Database) {
  const { events, latestEvents } = eventLog(sql).methods
  const { openCalls, evictedCalls, pausedUntil } = history(sql)
  return {
    /** The name of the store in sentences: its file or its database. */
    place: sql.place,
    /**
     * The last committed sync state of a target, and when the latest call finished that was deleted from its history (UNIX
     * seconds); undefined if the store does not know the target.
     */
    target: async (name: string) => {
      const [row] = await sql.all('SELECT fingerprint, sync, expired FROM callwatch.targets WHERE name = $1', [name])
      if (row === undefined) return undefined
      const expired = Number(row['expired'] ?? -Infinity)
      return { fingerprint: String(row['fingerprint']), sync: parse<SyncState>(row['sync']), expired }
    },
    /** The tracked calls of a target, by id. */
    calls: async (target: string): Promise<TrackedCalls> => {
      const calls = trackedCalls()
      await sql.each(`${CALLS} AND tracked`, [target], (values) => calls.set(callOf(values)))
      return calls
    },
    openCalls,
    callsOf: callsBySession(sql, 'tracked'),
    evictedCalls,
    /** The sums of a target's counters and of its calls, read at the same moment. */
    balance: (target: string): Promise<StoredBalance> =>
      sql.transaction(async (reading) => {
        const [amounts] = await reading.all(BALANCE, [target])
        const counters = await reading.all(`SELECT series, value FROM callwatch.counters WHERE ${OF_TARGET}`, [target])
        const totals = await reading.all(
          `SELECT quantity, value FROM callwatch.deleted_call_totals WHERE ${OF_TARGET}`,
          [target],
        )
        const deleted = new Map(totals.map(({ quantity, value }) => [quantity, Number(value)]))
        return {
          counters: countedAmounts(new Map(counters.map(({ series, value }) => [String(series), Number(value)]))),
          rows: Object.values(amounts!).map(Number),
          deletedTotals: QUANTITIES.map((quantity) => deleted.get(quantity) ?? 0),
        }
      }, 'snapshot'),
    /** The rule evaluations since a time (UNIX seconds), oldest first. */
    evaluations: async (target: string, since: number): Promise<EvaluationRecord[]> => {
      const rows = await sql.all(
        `SELECT hour, data FROM callwatch.evaluations WHERE ${OF_TARGET} AND hour >= $2::bigint ORDER BY hour`,
        [target, Math.floor(since / HOUR) * HOUR],
      )
      const all = rows.flatMap(({ hour, data }) => unpackEvaluations(Number(hour), String(data)))
      return all.filter(({ at }) => at >= since)
    },
    gaps: (target: string, lookback: number) => gapsOf(sql, target, lookback),
    /** The outcomes of calls that finished since a time (UNIX seconds). */
    finishes: async (target: string, since: number): Promise<Finish[]> => {
      const finishes: Finish[] = []
      const query = `${CALLS} AND finished >= $2::float8 AND status <> ${LOST_CODE}`
      await sql.each(query, [target, since], (values) => finishes.push(callOf(values).finish!))
      return finishes
    },
    pausedUntil,
    silences: silences(sql).silences,
    events,
    latestEvents,
    rows: sql.all,
    close: sql.close,
  }
}
