import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { openPostgresReader } from '../../../src/store/postgres/open-reader.ts'
import { CREATED } from '../../ledger/seen.ts'
import { inPostgres } from '../../postgres/in-postgres.ts'
import { MISSING_PGBOUNCER, startPgbouncer, type Pgbouncer } from '../../postgres/start-pgbouncer.ts'
import { DAY } from '../contract/place.ts'
import { storeContract } from '../contract/store-contract.ts'
import { commitOf, commitTo, joined, openShared } from './daemon.ts'
import { owningStore } from './owning-store.ts'

const isSkipped = MISSING_PGBOUNCER !== undefined && process.env['CI'] !== 'true'
if (isSkipped) console.warn(`the store behind a transaction pooler is not tested: ${MISSING_PGBOUNCER}`)

describe.skipIf(isSkipped)(`behind a transaction pooler${isSkipped ? ` (${MISSING_PGBOUNCER})` : ''}`, () => {
  inPostgres('the store in PostgreSQL', ({ server, newDatabase }) => {
    let pooler: Pgbouncer | undefined
    beforeAll(async () => {
      if (MISSING_PGBOUNCER !== undefined) throw new Error(MISSING_PGBOUNCER)
      pooler = await startPgbouncer(server())
    }, 60_000)
    afterAll(() => pooler?.stop())

    storeContract(async () => {
      const url = pooler!.urlOf(await newDatabase())
      await openShared(url)
      return {
        open: (notifiers) => owningStore(url, { notifiers }),
        reader: async () => {
          const reader = await openPostgresReader(url)
          onTestFinished(() => reader.close().catch(() => undefined))
          return reader
        },
      }
    })

    test('several daemons at once commit what is theirs, each transaction on another connection', async () => {
      const url = pooler!.urlOf(await newDatabase())
      const daemons = await Promise.all(Array.from({ length: 4 }, (_, i) => joined(url, `daemon ${i}`)))
      await Promise.all(
        daemons.map(async (store, i) => {
          for (let n = 0; n < 5; n++) {
            const name = `target ${i} ${n}`
            const { ledger } = await store.openTarget({ name, fingerprint: 'x' }, CREATED, DAY)
            expect(await store.sharing.claim([name], 1)).toEqual([name])
            for (let k = 0; k < 10; k++) await commitTo(store, name, ledger, commitOf(ledger, `call ${k}`))
            const stored = await store.openTarget({ name, fingerprint: 'x' }, CREATED, DAY)
            expect([stored.ledger.facts.seq, stored.ledger.calls.size]).toEqual([10, 10])
          }
          expect((await store.sharing.beat('{}'))?.members).toHaveLength(4)
        }),
      )
    })
  })
})
