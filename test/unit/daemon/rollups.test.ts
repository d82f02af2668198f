import { NEVER, Subject } from 'rxjs'
import { expect, onTestFinished, test } from 'vitest'
import { sleep, type Clock } from '../../../src/clock/clock.ts'
import { runJobs } from '../../../src/daemon/jobs.ts'
import { rollups } from '../../../src/daemon/rollups.ts'
import { openSqliteStore } from '../../../src/store/open-sqlite.ts'
import { StoreError } from '../../../src/store/store-error.ts'
import type { Store } from '../../../src/store/store.ts'
import { virtualClock } from '../../kit/virtual-clock.ts'
import { completePoll, CREATED, seen } from '../../kit/ledger/seen.ts'
import { openIn } from '../../kit/store/place.ts'

/** A daemon that adds up two stale quarters of an hour. */
async function maintaining(more: { isLeader?: () => boolean; store?: (store: Store, clock: Clock) => Store } = {}) {
  const store = openSqliteStore({ path: ':memory:' })
  onTestFinished(() => store.close())
  const { see } = await openIn(store)
  const ended = (id: string, at: number) => seen(id, 'ended', { endedAt: CREATED + at })
  await see(completePoll(1500, ended('a', 100), ended('b', 1100)))
  const clock = virtualClock(CREATED + 10_000)
  const draining$ = new Subject<void>()
  const { isLeader = () => true, store: changed = (same) => same } = more
  const lines: string[] = []
  const log = { info: (line: unknown) => void lines.push(String(line)) }
  const ownership = { isLeader }
  const job = rollups({ store: changed(store, clock), clock, log })
  const running = runJobs([job], { clock, ownership, draining$ }).subscribe()
  onTestFinished(() => running.unsubscribe())
  const stale = async () => (await store.rows('SELECT 1 FROM callwatch.stale_rollups', [])).length
  return { clock, draining$, stale, running, lines }
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

const upTo = (time: string) => `the history is being added up for charts and reports: up to 2026-09-21 ${time} UTC`
test.each([
  ['nothing of what is short', 3, []],
  ['how far a long adding-up is, and how long it took', 25, [upTo('14:15:00'), 'the history was added up in 50s']],
  ['each minute how far it is', 70, [upTo('14:15:00'), upTo('14:30:00'), 'the history was added up in 2m 20s']],
])('the log says %s', async (_what, seconds, expected) => {
  const { clock, lines, stale } = await maintaining({
    store: (store, own) => ({
      ...store,
      saveRollups: async (update) => {
        await sleep(own, seconds)
        await store.saveRollups(update)
      },
    }),
  })
  await clock.advance(11 + 3 * seconds)
  expect([await stale(), lines]).toEqual([0, expected])
})

test('a bug is loud', async () => {
  const store = openSqliteStore({ path: ':memory:' })
  const clock = virtualClock(CREATED)
  const failed = new Promise((resolve) =>
    runJobs(
      [
        rollups({
          store: { ...store, staleRollups: () => Promise.reject(new TypeError('a bug')) },
          clock,
          log: { info: () => undefined },
        }),
      ],
      { clock, ownership: { isLeader: () => true }, draining$: NEVER },
    ).subscribe({ error: resolve }),
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
