import { NEVER } from 'rxjs'
import { describe, expect, onTestFinished, test } from 'vitest'
import { eventLogJobs } from '../../../src/daemon/event-webhooks.ts'
import { runJobs } from '../../../src/daemon/jobs.ts'
import { newRetention } from '../../../src/daemon/retention.ts'
import { openSqliteStore } from '../../../src/store/open-sqlite.ts'
import { StoreError } from '../../../src/store/store-error.ts'
import type { Store } from '../../../src/store/store.ts'
import { virtualClock } from '../../kit/virtual-clock.ts'
import { completePoll, CREATED, seen } from '../../kit/ledger/seen.ts'
import { DAY, openIn } from '../../kit/store/place.ts'

const KEPT = 10 * DAY

/** A store with calls that ended so many days after the set-up, and an event of each; cleaned up by `clock`. */
async function retained(
  days: readonly number[],
  { wall, lastSuccess }: { wall: number; lastSuccess?: number },
  change = (store: Store) => store,
) {
  const store = openSqliteStore({ path: ':memory:' })
  onTestFinished(() => store.close())
  const finished = await openIn(store, { name: 'a', fingerprint: 'x' })
  const calls = days.map((day) => seen(`day ${day}`, 'ended', { endedAt: CREATED + day * DAY }))
  await finished.see(completePoll(16 * DAY + 60, ...calls))
  // By now they are evicted.
  await finished.see(completePoll(17 * DAY))
  await finished.see(completePoll(17 * DAY))
  const { see } = await openIn(store, { name: 'b', fingerprint: 'y' })
  for (const [i, day] of days.entries()) {
    const events = { id: `${i}`, at: CREATED + day * DAY, texts: ['{}'] }
    await see(completePoll(i, seen(`${i}`, 'ongoing')), { events })
  }
  const clock = virtualClock(CREATED + wall * DAY)
  const known = { lastSuccess: lastSuccess === undefined ? undefined : CREATED + lastSuccess * DAY }
  const logged: string[] = []
  const note = (level: string) => (line: string) => void logged.push(`${level} ${line}`)
  const common = { store: change(store), clock }
  const retention = newRetention({
    ...common,
    lastSuccesses: () => [undefined, known.lastSuccess],
    kept: () => KEPT,
    log: { warn: note('warn'), debug: note('debug') },
    mask: (text) => text,
  })
  const config = () => ({ events: { retention: KEPT, participants: true, webhooks: [] } })
  const jobs = [retention.job, ...eventLogJobs({ ...common, config, retentionNow: retention.now })]
  const running = runJobs(jobs, { clock, ownership: { isLeader: () => true }, draining$: NEVER }).subscribe()
  onTestFinished(() => running.unsubscribe())
  const left = async () => {
    const calls = await store.rows("SELECT id FROM callwatch.calls WHERE id LIKE 'day %' ORDER BY finished", [])
    return { calls: calls.map(({ id }) => id), events: (await store.events(1, 1000)).map(({ id }) => id) }
  }
  return { clock, known, left, logged, see: finished.see }
}

describe('what is older than it is kept', () => {
  test('is deleted within a minute, by the clock of the service', async () => {
    const { clock, left } = await retained([0, 5, 12, 16], { wall: 16, lastSuccess: 16 })
    await clock.advance(61)
    // The newest of the deleted events stays: so a reader knows what it has missed.
    expect(await left()).toEqual({ calls: ['day 12', 'day 16'], events: ['1', '2', '3'] })
  })

  test.each([
    ['the host’s clock is sixty days ahead', { wall: 73, lastSuccess: 13 }],
    ['the service’s clock was a year ahead for a while', { wall: 13, lastSuccess: 378 }],
    ['no poll was successful yet', { wall: 73 }],
  ])('is not deleted early where %s', async (_what, clocks) => {
    const { clock, left } = await retained([4, 5, 12, 13], clocks)
    await clock.advance(3600)
    expect(await left()).toEqual({ calls: ['day 4', 'day 5', 'day 12', 'day 13'], events: ['0', '1', '2', '3'] })
  })

  test('is not deleted early where the host’s clock steps by sixty days while the daemon runs', async () => {
    const { clock, left, known } = await retained([4, 5, 12, 13], { wall: 13, lastSuccess: 13 })
    await clock.advance(61)
    clock.stepWall(60 * DAY)
    await clock.advance(3600)
    known.lastSuccess = CREATED + 13 * DAY + 3600
    await clock.advance(61)
    expect((await left()).calls).toHaveLength(4)
  })

  test('is the calls that ended so long before the newest one, where both clocks are ahead', async () => {
    const { clock, left } = await retained([0, 5, 12, 13], { wall: 73, lastSuccess: 73 })
    await clock.advance(61)
    expect(await left()).toEqual({ calls: ['day 5', 'day 12', 'day 13'], events: ['0', '1', '2', '3'] })
  })

  test('is not deleted early where a call without an end was noticed by a clock that was ahead', async () => {
    const { clock, left, see } = await retained([4, 5, 12, 13], { wall: 73, lastSuccess: 73 })
    await see(completePoll(73 * DAY, seen('unfinished', 'canceled')))
    await clock.advance(61)
    expect((await left()).calls).toHaveLength(4)
  })

  test('is deleted a minute later where the store could not', async () => {
    let refused = 0
    const { clock, left, logged } = await retained([0, 16], { wall: 16, lastSuccess: 16 }, (store) => ({
      ...store,
      deleteExpired: async (before) => {
        if (++refused < 3) throw new StoreError('unavailable', 'database is locked')
        await store.deleteExpired(before)
      },
    }))
    await clock.advance(61)
    expect((await left()).calls).toHaveLength(2)
    await clock.advance(120)
    expect((await left()).calls).toEqual(['day 16'])
    const line = 'expired rows were not deleted from the store (retried each minute): StoreError: database is locked'
    expect(logged).toEqual([`warn ${line}`, `debug ${line}`])
  })
})
