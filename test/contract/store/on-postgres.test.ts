import { expect, test } from 'vitest'
import { systemClock } from '../../../src/clock/clock.ts'
import { connect } from '../../../src/store/postgres/connection.ts'
import { completePoll, CREATED, seen } from '../../kit/ledger/seen.ts'
import { inPostgres } from '../../kit/postgres/in-postgres.ts'
import { A, B, filled, many, openIn, summariesOf } from '../../kit/store/place.ts'
import { storeContract } from './store-contract.ts'
import { emptied, owningStore, placesIn } from '../../kit/store/postgres/daemon.ts'
import { finishedCalls } from '../../kit/store/finished-calls.ts'

inPostgres('the store in PostgreSQL', ({ newDatabase }) => {
  storeContract(placesIn(emptied(newDatabase)))

  /** Its clock advances by `seconds` each time that it is read. */
  async function twoTargets(seconds: number) {
    let now = 0
    const clock = { ...systemClock, monotonic: () => (now += seconds) }
    const store = await owningStore(await newDatabase(), { clock })
    await filled(store, A, many(6000), ['call 7'])
    await filled(store, B, many(5000))
    const left = async () => (await finishedCalls(store, { since: CREATED, limit: 1e6 })).length
    expect(await left()).toBe(11_000)
    return { store, left }
  }

  test('expired calls are deleted by 2000 at a time until there are no more, of all targets', async () => {
    const { store } = await twoTargets(0)
    await store.deleteExpired(CREATED + 1000)
    const history = summariesOf(await finishedCalls(store, { since: CREATED, limit: 10 }))
    expect(history).toEqual([expect.stringContaining('a call 7 ')])
  })

  test('a deletion of expired calls stops after a few seconds, with the oldest deleted, and continues the next time', async () => {
    const { store, left } = await twoTargets(10)
    await store.deleteExpired(CREATED + 1000)
    expect(await left()).toBe(9000)
    const [newest] = summariesOf(await finishedCalls(store, { since: CREATED, limit: 1 }))
    expect(newest).toContain('a call 5999 ')
    await store.deleteExpired(CREATED + 1000)
    expect(await left()).toBe(7000)
  })

  test('queries of the history delay no commit, and one that is too long says nothing of the database', async () => {
    const url = await newDatabase()
    const store = await owningStore(url)
    const { see } = await openIn(store)
    // They wait for a lock until the commit is done.
    const lock = await connect(url)
    await lock.run('SELECT pg_advisory_lock(1)')
    const waiting = Array.from({ length: 8 }, () => store.rows('SELECT pg_advisory_lock_shared(1)', []))
    await see(completePoll(5, seen('c', 'ended', { endedAt: CREATED + 4 })))
    await lock.close()
    await Promise.all(waiting)
    const tooLong = store.rows("SELECT set_config('statement_timeout', '50', false), pg_sleep(0.01)", [])
    await tooLong
    const refused = Promise.allSettled([1, 2].map(() => store.rows('SELECT pg_sleep(1)', [])))
    expect((await refused).some(({ status }) => status === 'rejected')).toBe(true)
    expect(await store.rows('SELECT name FROM callwatch.targets', [])).toHaveLength(1)
    await see(completePoll(10))
  })
})
