import { amountsOf, countedAmounts, NO_AMOUNTS } from '../../ledger/balance.ts'
import { rememberedCalls } from '../../ledger/remembered-calls.ts'
import type { Facts } from '../../ledger/state.ts'
import type { Finish } from '../../ledger/tracked-call.ts'
import { callOf } from '../call-row.ts'
import { HOUR, unpackEvaluated } from '../evaluation-log.ts'
import { settledAmounts } from '../settled.ts'
import type { StoreReader } from '../store-reader.ts'
import { connectBeside } from './beside.ts'
import { snapshot } from './transaction.ts'
import { heldUntil } from './holds.ts'

/** Calls know their target by its number. */
const OF_TARGET = 'target = (SELECT number FROM callwatch.targets WHERE name = $1)'

/**
 * Opens a store beside the daemons that may be using it, without writing; a standby will do.
 *
 * @throws {StoreError} refused: nothing of callwatch is in the database, or of another schema, or it lets nobody in
 */
export async function openPostgresReader(url: string): Promise<StoreReader> {
  const session = await connectBeside(url, { readOnly: true })
  return {
    place: session.place,
    target: async (name) => {
      const [row] = await session.run('SELECT fingerprint, facts FROM callwatch.targets WHERE name = $1', [name])
      if (row === undefined) return undefined
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by the daemon's store only
      return { fingerprint: String(row['fingerprint']), facts: JSON.parse(String(row['facts'])) as Facts }
    },
    calls: async (target) => {
      const calls = rememberedCalls()
      await session.each(`SELECT id, data FROM callwatch.calls WHERE ${OF_TARGET} AND remembered`, [target], (row) => {
        calls.set(callOf(row))
      })
      return calls
    },
    call: async (target, id) => {
      const statement = `SELECT id, data FROM callwatch.calls WHERE ${OF_TARGET} AND id = $2 AND remembered`
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
        const settled = await run(`SELECT quantity, value FROM callwatch.settled WHERE ${OF_TARGET}`, [target])
        return {
          counters: countedAmounts(counters.map(({ series, value }) => [String(series), Number(value)])),
          rows,
          settled: settledAmounts(settled),
        }
      }),
    evaluations: async (target, since) => {
      const statement = `SELECT hour, data FROM callwatch.evaluations WHERE ${OF_TARGET} AND hour >= $2::bigint ORDER BY hour`
      const rows = await session.run(statement, [target, Math.floor(since / HOUR) * HOUR])
      return rows
        .flatMap(({ hour, data }) => unpackEvaluated(Number(hour), String(data)))
        .filter(({ at }) => at >= since)
    },
    finishes: async (target, since) => {
      const finishes: Finish[] = []
      const statement = `SELECT id, data FROM callwatch.calls WHERE ${OF_TARGET} AND finished >= $2::float8`
      await session.each(statement, [target, since], (row) => finishes.push(callOf(row).finish!))
      return finishes
    },
    heldUntil: (key) => heldUntil(session, key),
    close: session.close,
  }
}
