import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { inOwnPostgres } from '../../kit/postgres/in-postgres.ts'
import { MISSING_PGBOUNCER, startPgbouncer, type Pgbouncer } from '../../kit/postgres/start-pgbouncer.ts'
import { SAME_STATEMENTS, storeContract } from '../../contract/store/store-contract.ts'
import { emptied, joined, placesIn, replicaOf } from '../../kit/store/postgres/daemon.ts'

const isSkipped = MISSING_PGBOUNCER !== undefined && process.env['CI'] !== 'true'
if (isSkipped) console.warn(`the store behind a transaction pooler is not tested: ${MISSING_PGBOUNCER}`)

describe.skipIf(isSkipped)(`behind a transaction pooler${isSkipped ? ` (${MISSING_PGBOUNCER})` : ''}`, () => {
  inOwnPostgres('the store in PostgreSQL', ({ server, newDatabase }) => {
    let pooler: Pgbouncer | undefined
    beforeAll(async () => {
      if (MISSING_PGBOUNCER !== undefined) throw new Error(MISSING_PGBOUNCER)
      pooler = await startPgbouncer(server())
    })
    afterAll(() => pooler?.stop())

    const newUrl = emptied(async () => pooler!.urlOf(await newDatabase()))
    storeContract(placesIn(newUrl), SAME_STATEMENTS)

    test('a setting of the role that it does not let callwatch change is refused, with what to run', async () => {
      const url = await newDatabase()
      const admin = await server().connect()
      const name = new URL(url).pathname.slice(1)
      await admin.run(`ALTER DATABASE "${name}" SET default_transaction_isolation = 'repeatable read'`)
      await admin.close()
      await expect(joined(pooler!.urlOf(url), 'one')).rejects.toMatchObject({
        kind: 'refused',
        message: expect.stringMatching(
          /has default_transaction_isolation = repeatable read for this user, .*; run ALTER ROLE .* = 'read committed'/,
        ),
      })
    })

    test('daemons publish overviews, and read those of many targets that were set up together', async () => {
      const url = await newUrl()
      const [one, two] = [await joined(url, 'one'), await joined(url, 'two')]
      const identities = Array.from({ length: 50 }, (_, i) => ({ name: `target ${i}`, fingerprint: 'x' }))
      const names = identities.map(({ name }) => name)
      await Promise.all([one, two].map(({ cluster }) => cluster.addTargets(identities, 0)))
      const replicas = await Promise.all(identities.map((identity) => replicaOf(one, identity)))
      await one.cluster.acquire(names, 100)
      let { cursor } = await two.cluster.overviewsSince()
      const seen: string[] = []
      const reading = async () => {
        const recent = await two.cluster.overviewsSince(cursor)
        cursor = recent.cursor
        seen.push(...recent.overviews.values())
      }
      await Promise.all([
        ...replicas.map(({ sees }) => sees('call')),
        ...names.map((name) => one.cluster.publish(new Map([[name, `of ${name}`]]))),
        ...names.map(reading),
      ])
      await reading()
      expect([...new Set(seen)].toSorted()).toEqual(names.map((name) => `of ${name}`).toSorted())
    })

    test('daemons hear no hints, because a pooler passes on no LISTEN', async () => {
      const { hints } = (await joined(await newUrl(), 'one')).cluster
      await hints.pass({ target: 'a', hint: { id: '1', trigger: 'call_ended' } })
      expect(hints.hearsSince()).toBe(Infinity)
    })

    test('several daemons at once commit what is theirs, each transaction on another connection', async () => {
      const url = await newUrl()
      const daemons = await Promise.all(Array.from({ length: 4 }, (_, i) => joined(url, `daemon ${i}`)))
      await Promise.all(
        daemons.map(async (store, i) => {
          for (let n = 0; n < 5; n++) {
            const identity = { name: `target ${i} ${n}`, fingerprint: 'x' }
            const { sees } = await replicaOf(store, identity)
            expect(await store.cluster.acquire([identity.name], 1)).toEqual([identity.name])
            for (let k = 0; k < 10; k++) await sees(`call ${k}`)
            const { ledger } = await replicaOf(store, identity)
            expect([ledger.sync.seq, ledger.calls.size]).toEqual([10, 10])
          }
          expect((await store.cluster.renew('{}'))?.members).toHaveLength(4)
        }),
      )
    })
  })
})
