import { EMPTY, Subject } from 'rxjs'
import { expect, onTestFinished, test } from 'vitest'
import { maintainRollups } from '../../src/daemon/rollups.ts'
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts'
import { StoreError, type Store } from '../../src/store/store.ts'
import { virtualClock } from '../clock/virtual-clock.ts'
import { completePoll, CREATED, seen } from '../ledger/seen.ts'
import { openIn } from '../store/contract/place.ts'

/** A daemon that adds up two stale quarters of an hour. */
async function maintaining(more: { isLeader?: () => boolean; store?: (store: Store) => Store } = {}) {
  const store = openSqliteStore({ path: ':memory:' })
  onTestFinished(() => store.close())
  const { see } = await openIn(store)
  const ended = (id: string, at: number) => seen(id, 'ended', { endedAt: CREATED + at })
  await see(completePoll(1500, ended('a', 100), ended('b', 1100)))
  const clock = virtualClock(CREATED + 10_000)
  const draining$ = new Subject<void>()
  const { isLeader = () => true, store: changed = (same) => same } = more
  const running = maintainRollups({ store: changed(store), clock, ownership: { isLeader }, draining$ }).subscribe()
  onTestFinished(() => running.unsubscribe())
  const stale = async () => (await store.rows('SELECT 1 FROM callwatch.stale_rollups', [])).length
  return { clock, draining$, stale, running }
}

test('rollups are kept up to date, each ten seconds all of them', async () => {
  const { clock, stale } = await maintaining()
  await clock.advance(9)
  expect(await stale()).toBe(2)
  await clock.advance(2)
  expect(await stale()).toBe(0)
})

test('only the leader keeps them', async () => {
  let isLeader = false
  const { clock, stale } = await maintaining({ isLeader: () => isLeader })
  await clock.advance(30)
  expect(await stale()).toBe(2)
  isLeader = true
  await clock.advance(10)
  expect(await stale()).toBe(0)
})

test('a problem of the store ends nothing: ten seconds later they are kept again', async () => {
  let refused = 0
  const { clock, stale } = await maintaining({
    store: (store) => ({
      ...store,
      saveRollups: async (update) => {
        if (++refused === 1) throw new StoreError('unavailable', 'database is locked')
        await store.saveRollups(update)
      },
    }),
  })
  await clock.advance(11)
  expect([refused, await stale()]).toEqual([1, 2])
  await clock.advance(10)
  expect(await stale()).toBe(0)
})

test('a bug is loud', async () => {
  const store = openSqliteStore({ path: ':memory:' })
  const clock = virtualClock(CREATED)
  const failed = new Promise((resolve) =>
    maintainRollups({
      store: { ...store, rows: () => Promise.reject(new TypeError('a bug')) },
      clock,
      ownership: { isLeader: () => true },
      draining$: EMPTY,
    }).subscribe({ error: resolve }),
  )
  await clock.advance(11)
  expect(await failed).toBeInstanceOf(TypeError)
  await store.close()
})

test('nothing more is read once the daemon stops', async () => {
  const { clock, draining$, stale, running } = await maintaining()
  draining$.next()
  await clock.advance(30)
  expect(await stale()).toBe(2)
  expect(running.closed).toBe(true)
})
