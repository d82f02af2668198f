import { expect, onTestFinished, test } from 'vitest'
import { completePoll, contents, CREATED, seen } from '../../../kit/ledger/seen.ts'
import { cuttingProxy } from '../../../kit/postgres/cutting-proxy.ts'
import { inPostgres } from '../../../kit/postgres/in-postgres.ts'
import { commitOf, DAY, NO_ALERTS, notification, openIn } from '../../../kit/store/place.ts'
import { owner } from '../../../kit/store/postgres/daemon.ts'

inPostgres('the round trips to the database', ({ newDatabase }) => {
  async function counted() {
    const proxy = await cuttingProxy(await newDatabase())
    onTestFinished(() => proxy.close())
    const daemon = await owner(proxy.url)
    const roundTrips = async (work: () => Promise<unknown>) => {
      const before = proxy.roundTrips()
      await work()
      return proxy.roundTrips() - before
    }
    return { ...daemon, roundTrips }
  }

  // What goes in one flight may be counted twice where the answer to its beginning comes before its end was sent.
  test('are one for a poll of 10000 changes; the first time, one for each statement', async () => {
    const { store, ledger, deltaOf, commit, roundTrips } = await counted()
    for (const [i, most] of [10, 3, 3].entries()) {
      const calls = Array.from({ length: 10_000 }, (_, n) => seen(`call ${i} ${n}`, 'ongoing'))
      const next = commitOf(deltaOf(completePoll(i, ...calls)))
      expect(await roundTrips(() => commit(next))).toBeLessThanOrEqual(most)
    }
    expect(contents((await openIn(store)).ledger)).toEqual(contents(ledger))
  })

  test('are a few for a commit with changes of alerts', async () => {
    const { next, commit, roundTrips } = await counted()
    const notifying = (call: string) =>
      commit({ ...next(call), alerts: { ...NO_ALERTS, notifications: [notification] } })
    for (const call of ['b', 'c']) await notifying(call)
    expect(await roundTrips(() => notifying('last'))).toBeLessThanOrEqual(4)
  })

  test('are a few for a beat, or for opening a target, however many targets there are', async () => {
    const { store, roundTrips } = await counted()
    const open = (i: number) => store.openTarget({ name: `target ${i}`, fingerprint: 'x' }, CREATED, DAY)
    for (let i = 0; i < 50; i++) await open(i)
    await store.cluster.renew('{}')
    expect(await roundTrips(() => store.cluster.renew('{}'))).toBeLessThanOrEqual(3)
    await open(7)
    expect(await roundTrips(() => open(7))).toBeLessThanOrEqual(5)
  })
})
