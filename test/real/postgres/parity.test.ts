import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { applyDelta } from '../../../src/ledger/state.ts'
import { computeDelta } from '../../../src/ledger/delta/compute-delta.ts'
import { openSqliteStore } from '../../../src/store/open-sqlite.ts'
import type { Store } from '../../../src/store/store.ts'
import { contents, CREATED } from '../../kit/ledger/seen.ts'
import { inPostgres } from '../../kit/postgres/in-postgres.ts'
import { anyObservations } from '../../kit/store/any-observations.ts'
import { NO_ALERTS, OPTIONS } from '../../kit/store/place.ts'
import { joined } from '../../kit/store/postgres/daemon.ts'
import { finishedCalls } from '../../kit/store/finished-calls.ts'

/** All that a store tells of a target; what finished at the very same time comes in any order. */
async function kept(store: Store, target: string) {
  const { ledger, alerts } = await store.openTarget({ name: target, fingerprint: 'x' }, 0, 500)
  const { finished, ...rest } = contents(ledger)
  const history = await finishedCalls(store, { since: 0, limit: 1e6 })
  const text = (values: readonly unknown[]) => values.map((value) => JSON.stringify(value)).toSorted()
  return {
    ...rest,
    alerts,
    finished: text(finished),
    history: text(history.filter((row) => row.target === target)),
    perMinute: text(await store.finishedPerMinute([target], CREATED + 10.3, 20)),
    open: text(await store.openCalls([target])),
  }
}

inPostgres('SQLite and PostgreSQL', ({ newDatabase }) => {
  test('keep the very same of whatever is seen, to the last digit', async () => {
    const shared = await joined(await newDatabase(), 'one')
    const embedded = openSqliteStore({ path: ':memory:' })
    let targets = 0
    await fc.assert(
      fc.asyncProperty(anyObservations, fc.nat(3000), async (observations, expired) => {
        const name = `target ${++targets}`
        const identity = { name, fingerprint: 'x' }
        const { ledger } = await embedded.openTarget(identity, CREATED, 500)
        await shared.openTarget(identity, CREATED, 500)
        await shared.cluster.acquire([name], 1)
        for (const observation of observations) {
          const delta = computeDelta(ledger, observation, OPTIONS)
          if (delta === undefined) continue
          const evaluated = { kind: 'tick', at: CREATED + delta.sync.seq * 900.5, pollAge: 1.25 } as const
          const commit = { ledger: delta, alerts: NO_ALERTS, evaluated }
          await Promise.all([embedded.commit(name, commit), shared.commit(name, commit)])
          applyDelta(ledger, delta, 500)
        }
        expect(await kept(shared, name)).toStrictEqual(await kept(embedded, name))
        for (const store of [shared, embedded]) await store.deleteExpired(CREATED + expired)
        expect(await kept(shared, name)).toStrictEqual(await kept(embedded, name))
      }),
      { numRuns: 80 },
    )
    await embedded.close()
  })
})
