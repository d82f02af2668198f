import { amountsOf, countedAmounts, NO_AMOUNTS } from '../../ledger/balance.ts'
import { LOST_CODE } from '../../ledger/history-columns.ts'
import { trackedCalls } from '../../ledger/tracked-calls.ts'
import type { SyncState } from '../../ledger/state.ts'
import type { Finish } from '../../ledger/tracked-call.ts'
import { HOUR } from '../evaluation-log.ts'
import { callOf, evaluationsOf, parse, deletedCallTotals } from '../rows.ts'
import type { StoreReader } from '../store-reader.ts'
import { connectForCommand } from './connect-for-command.ts'
import { eventsFrom, latestEvents } from './events.ts'
import { snapshot } from './transaction.ts'

const OF_TARGET = 'target = (SELECT number FROM callwatch.targets WHERE name = $1)'

/**
 * Opens a store while daemons may be using it, without writing; a standby is good enough.
 *
 * @throws {StoreError} refused: nothing of callwatch is in the database, or of another schema, or it refuses connections
 */
export async function openPostgresReader(url: string): Promise<StoreReader> {
  const session = await connectForCommand(url, { readOnly: true })
  return {
    place: session.place,
    target: async (name) => {
      const [row] = await session.run('SELECT fingerprint, sync FROM callwatch.targets WHERE name = $1', [name])
      if (row === undefined) return undefined
      return { fingerprint: String(row['fingerprint']), sync: parse<SyncState>(row['sync']) }
    },
    calls: async (target) => {
      const calls = trackedCalls()
      await session.each(`SELECT id, data FROM callwatch.calls WHERE ${OF_TARGET} AND tracked`, [target], (row) => {
        calls.set(callOf(row))
      })
      return calls
    },
    call: async (target, id) => {
      const statement = `SELECT id, data FROM callwatch.calls WHERE ${OF_TARGET} AND id = $2 AND tracked`
      const [row] = await session.run(statement, [target, id])
      return row && callOf(row)
    },
    balance: (target) =>
      snapshot(session, async ({ run, each }) => {
        const rows = [...NO_AMOUNTS]
        await each(`SELECT id, data FROM callwatch.calls WHERE ${OF_TARGET}`, [target], (row) => {
          for (const [i, amount] of amountsOf(callOf(row)).entries()) rows[i]! += amount
        })
        const counters = await run(`SELECT series, value FROM callwatch.counters WHERE ${OF_TARGET}`, [target])
        const totals = await run(`SELECT quantity, value FROM callwatch.deleted_call_totals WHERE ${OF_TARGET}`, [
          target,
        ])
        return {
          counters: countedAmounts(counters.map(({ series, value }) => [String(series), Number(value)])),
          rows,
          deletedTotals: deletedCallTotals(totals),
        }
      }),
    evaluations: async (target, since) => {
      const statement = `SELECT hour, data FROM callwatch.evaluations WHERE ${OF_TARGET} AND hour >= $2::bigint ORDER BY hour`
      return evaluationsOf(await session.run(statement, [target, Math.floor(since / HOUR) * HOUR]), since)
    },
    finishes: async (target, since) => {
      const finishes: Finish[] = []
      const statement = `SELECT id, data FROM callwatch.calls WHERE ${OF_TARGET} AND finished >= $2::float8 AND status <> ${LOST_CODE}`
      await session.each(statement, [target, since], (row) => finishes.push(callOf(row).finish!))
      return finishes
    },
    pausedUntil: async (key) => {
      const [row] = await session.run('SELECT until FROM callwatch.pauses WHERE key = $1', [key])
      return row && Number(row['until'])
    },
    events: (position, most) => eventsFrom(session, position, most),
    latestEvents: (most) => latestEvents(session, most),
    rows: (statement, args) => session.run(statement, args),
    close: session.close,
  }
}
