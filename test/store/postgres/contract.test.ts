import { expect, test } from 'vitest'
import { systemClock } from '../../../src/clock/clock.ts'
import { CREATED } from '../../ledger/seen.ts'
import { inPostgres } from '../../postgres/in-postgres.ts'
import { A, B, filled, many, summariesOf } from '../contract/place.ts'
import { storeContract } from '../contract/store-contract.ts'
import { emptied, owningStore, placesIn } from './daemon.ts'
import { finishedCalls } from '../finished-calls.ts'

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
})
