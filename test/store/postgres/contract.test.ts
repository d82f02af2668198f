import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../../src/clock/clock.ts'
import { openPostgresReader } from '../../../src/store/postgres/open-reader.ts'
import { CREATED } from '../../ledger/seen.ts'
import { inPostgres } from '../../postgres/in-postgres.ts'
import { B, filled, many, told } from '../contract/filled-history.ts'
import { A } from '../contract/place.ts'
import { storeContract } from '../contract/store-contract.ts'
import { openShared } from './daemon.ts'
import { owningStore } from './owning-store.ts'

inPostgres('the store in PostgreSQL', ({ newDatabase }) => {
  storeContract(async () => {
    const url = await newDatabase()
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

  /** Its clock goes on by `seconds` each time that it is looked at. */
  async function twoTargets(seconds: number) {
    let now = 0
    const clock = { ...systemClock, monotonic: () => (now += seconds) }
    const store = await owningStore(await newDatabase(), { clock })
    await filled(store, A, many(6000), ['call 7'])
    await filled(store, B, many(5000))
    const left = async () => (await store.finishedCalls({ since: CREATED, limit: 1e6 })).length
    expect(await left()).toBe(11_000)
    return { store, left }
  }

  test('the history is trimmed by 2000 calls at a time until all of it is gone, of whichever target', async () => {
    const { store } = await twoTargets(0)
    await store.trimHistory(CREATED + 1000)
    expect(told(await store.finishedCalls({ since: CREATED, limit: 10 }))).toEqual([
      expect.stringContaining('a call 7 '),
    ])
  })

  test('trimming the history stops after a few seconds, with the oldest gone, and goes on the next time', async () => {
    const { store, left } = await twoTargets(10)
    await store.trimHistory(CREATED + 1000)
    expect(await left()).toBe(9000)
    const [newest] = told(await store.finishedCalls({ since: CREATED, limit: 1 }))
    expect(newest).toContain('a call 5999 ')
    await store.trimHistory(CREATED + 1000)
    expect(await left()).toBe(7000)
  })
})
