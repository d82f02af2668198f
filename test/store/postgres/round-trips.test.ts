import { expect, onTestFinished, test } from 'vitest'
import { apply } from '../../../src/ledger/state.ts'
import { step } from '../../../src/ledger/step.ts'
import { completeLook, contents, CREATED, seen } from '../../ledger/seen.ts'
import { cuttingProxy } from '../../postgres/cutting-proxy.ts'
import { inPostgres } from '../../postgres/in-postgres.ts'
import { A, DAY, NO_ALERTS, notification, OPTIONS } from '../contract/place.ts'
import { commitOf, commitTo, joined } from './daemon.ts'

inPostgres('how often the database is asked', ({ newDatabase }) => {
  async function counted() {
    const proxy = await cuttingProxy(await newDatabase())
    onTestFinished(() => proxy.close())
    const store = await joined(proxy.url, 'one')
    const { ledger } = await store.openTarget(A, CREATED, DAY)
    await store.sharing.claim(['a'], 1)
    const asked = async (work: () => Promise<unknown>) => {
      const before = proxy.roundTrips()
      await work()
      return proxy.roundTrips() - before
    }
    return { store, ledger, asked }
  }

  test('for a cycle of 10000 changes, once; the first time, once more', async () => {
    const { store, ledger, asked } = await counted()
    for (const expected of [2, 1]) {
      const calls = Array.from({ length: 10_000 }, (_, i) => seen(`call ${i} ${expected}`, 'ongoing'))
      const delta = step(ledger, completeLook(3 - expected, ...calls), OPTIONS)!
      expect(await asked(() => store.commit('a', { ledger: delta, alerts: NO_ALERTS, outgoing: [] }))).toBe(expected)
      apply(ledger, delta, DAY)
    }
    expect(contents((await store.openTarget(A, CREATED, DAY)).ledger)).toEqual(contents(ledger))
  })

  // What goes in one flight may be counted twice where the answer to its beginning comes before its end was sent.
  test('for a commit that puts something out, a few times', async () => {
    const { store, ledger, asked } = await counted()
    const outgoing = [{ change: notification, to: ['slack', 'webhook'] }]
    for (const call of ['b', 'c']) await commitTo(store, 'a', ledger, { ...commitOf(ledger, call), outgoing })
    expect(
      await asked(() => commitTo(store, 'a', ledger, { ...commitOf(ledger, 'last'), outgoing })),
    ).toBeLessThanOrEqual(4)
  })

  test('for a beat, or for opening a target, a few times, however many targets there are', async () => {
    const { store, asked } = await counted()
    for (let i = 0; i < 50; i++) await store.openTarget({ name: `target ${i}`, fingerprint: 'x' }, CREATED, DAY)
    await store.sharing.beat('{}')
    expect(await asked(() => store.sharing.beat('{}'))).toBeLessThanOrEqual(2)
    const open = () => store.openTarget({ name: 'target 7', fingerprint: 'x' }, CREATED, DAY)
    await open()
    expect(await asked(open)).toBeLessThanOrEqual(5)
  })
})
