import * as fc from 'fast-check'
import { firstValueFrom, NEVER, ReplaySubject, Subject, takeUntil, timer } from 'rxjs'
import { describe, expect, onTestFinished, test } from 'vitest'
import { STARTING } from '../../../src/cluster/member-status.ts'
import { sharedOwnership, type OwnershipEvent } from '../../../src/cluster/shared-ownership.ts'
import type { Settings } from '../../../src/store/settings.ts'
import { StoreError } from '../../../src/store/store-error.ts'
import { virtualClock } from '../../kit/virtual-clock.ts'
import { memoryCluster } from './memory-cluster.ts'
import { runs } from '../../kit/runs.ts'

const LEASE = 10
const TARGETS = Array.from({ length: 12 }, (_, i) => `target ${i}`)
const SETTINGS = { 'poll.lookback': '86400' }

function cluster(targets: readonly string[] = TARGETS) {
  const clock = virtualClock(0)
  const store = memoryCluster(clock)

  async function start(name: string, { settings = SETTINGS, busy = 0 }: { settings?: Settings; busy?: number } = {}) {
    const now = { isReachable: true, targets }
    const clusterStore = store.clusterStore(LEASE, () => now.isReachable)
    const draining$ = new ReplaySubject<void>(1)
    const killed = new Subject<void>()
    const ended = new Subject<void>()
    await clusterStore.join(name, STARTING, settings)
    const ownership = sharedOwnership({
      cluster: clusterStore,
      clock,
      name,
      targets: () => now.targets,
      draining$,
    })
    const events: OwnershipEvent[] = []
    const running = ownership
      .run(ended)
      .pipe(takeUntil(killed))
      .subscribe((event) => events.push(event))
    onTestFinished(() => running.unsubscribe())
    /** Targets that are watched, for as long as their leases say; a cycle goes on for `busy` seconds. */
    const watched = new Set<string>()
    const lost = new Set<string>()
    for (const target of targets) {
      ownership
        .lease$(target)
        .pipe(takeUntil(killed))
        .subscribe((lease) => {
          const done = lease.hold()
          watched.add(target)
          let isOver = false
          const end = () => {
            if (isOver) return
            isOver = true
            watched.delete(target)
            done()
          }
          lease.draining$.subscribe(() => (busy === 0 ? end() : void clock.scheduler.schedule(end, busy * 1000)))
          lease.aborted$.subscribe(() => {
            lost.add(target)
            end()
          })
        })
    }
    return {
      ...ownership,
      now,
      events,
      watched,
      lost,
      clusterStore,
      stop: () => draining$.next(),
      /** As the program does once nothing is asked or sent any more. */
      end: () => ended.next(),
      kill: () => {
        killed.next()
        watched.clear()
      },
      owned: () => targets.filter((target) => ownership.owns(target)),
    }
  }
  return { clock, store, start }
}

type Daemon = Awaited<ReturnType<ReturnType<typeof cluster>['start']>>
const counts = (...daemons: Daemon[]) => daemons.map(({ watched }) => watched.size)
const kinds = ({ events }: Daemon) => events.map(({ kind }) => kind)

describe('daemons that share a store', () => {
  test('one alone owns all targets, and leads', async () => {
    const { clock, start } = cluster()
    const a = await start('a')
    await clock.advance(1)
    expect(a.owned()).toEqual(TARGETS)
    expect(a.isLeader()).toBe(true)
    expect(a.events).toEqual([{ kind: 'acquired', targets: TARGETS }])
  })

  test('a daemon that stops reports all targets as released, also those that its last work releases', async () => {
    const { clock, start } = cluster()
    const a = await start('a', { busy: 1 })
    await clock.advance(1)
    clock.scheduler.schedule(a.end, 1000)
    a.stop()
    await clock.advance(2)
    const released = a.events.flatMap((event) => (event.kind === 'released' ? event.targets : []))
    expect(released.toSorted()).toEqual(TARGETS.toSorted())
  })

  test('daemons that join and leave acquire and release equal parts, and no other target moves', async () => {
    const { clock, store, start } = cluster()
    const a = await start('a')
    await clock.advance(5)
    const b = await start('b')
    await clock.advance(10)
    expect(counts(a, b)).toEqual([6, 6])
    expect(store.moves()).toBe(12 + 6)
    const c = await start('c')
    await clock.advance(10)
    expect(counts(a, b, c)).toEqual([4, 4, 4])
    expect(store.moves()).toBe(12 + 6 + 4)
    b.stop()
    await clock.advance(5)
    expect(counts(a, b, c)).toEqual([6, 0, 6])
    expect(store.moves()).toBe(12 + 6 + 4 + 4)
    expect([a, b, c].flatMap(({ lost }) => [...lost])).toEqual([])
  })

  test('a daemon that has joined and still loads its targets owns none yet, and the others keep theirs', async () => {
    const { clock, store, start } = cluster()
    const a = await start('a')
    await store.clusterStore(LEASE).join('b', STARTING, SETTINGS)
    await clock.advance(LEASE - 1)
    expect(counts(a)).toEqual([12])
  })

  test('a target that is released is acquired by another daemon only when the poll under way has ended', async () => {
    const { clock, start } = cluster()
    const a = await start('a', { busy: 3 })
    await clock.advance(5)
    a.stop()
    const b = await start('b')
    await clock.advance(2.5)
    expect(counts(a, b)).toEqual([12, 0])
    await clock.advance(3)
    expect(counts(a, b)).toEqual([0, 12])
  })

  test('the targets of a dead one are acquired within its lease and a heartbeat', async () => {
    const { clock, start } = cluster()
    const [a, b, c] = [await start('a'), await start('b'), await start('c')]
    await clock.advance(10)
    a.kill()
    await clock.advance(LEASE + LEASE / 5 + 0.1)
    expect(counts(b, c)).toEqual([6, 6])
    expect([b.isLeader(), c.isLeader()]).toEqual([true, false])
  })

  test('a daemon that cannot renew its lease stops before it ends, and acquires targets again when it can', async () => {
    const { clock, start } = cluster()
    const [a, b] = [await start('a'), await start('b')]
    await clock.advance(10)
    a.now.isReachable = false
    await clock.advance(LEASE - 0.1)
    expect(a.watched.size).toBe(0)
    expect(a.owned()).toEqual([])
    expect(a.isLeader()).toBe(false)
    expect(a.wasLeader()).toBe(true)
    expect(a.problem()).toBe('the database cannot be reached')
    await clock.advance(5)
    expect(counts(a, b)).toEqual([0, 12])
    a.now.isReachable = true
    await clock.advance(10)
    expect(counts(a, b)).toEqual([6, 6])
    expect(a.problem()).toBeUndefined()
    expect(kinds(a).filter((kind) => kind === 'lease lost')).toHaveLength(1)
    expect([a.isLeader(), b.isLeader()]).toEqual([false, true])
  })

  test('a problem shorter than a lease changes nothing', async () => {
    const { clock, start } = cluster()
    const [a, b] = [await start('a'), await start('b')]
    await clock.advance(10)
    a.now.isReachable = false
    await clock.advance(5)
    a.now.isReachable = true
    await clock.advance(20)
    expect(counts(a, b)).toEqual([6, 6])
    expect(a.lost.size).toBe(0)
  })

  test('a process that was halted owns nothing when it continues, before any timer has run', async () => {
    const { clock, start } = cluster()
    const a = await start('a')
    await clock.advance(5)
    const [target] = TARGETS
    const monotonic = clock.monotonic
    clock.monotonic = () => monotonic() + 2 * LEASE
    expect(a.owns(target!)).toBe(false)
    expect(a.isLeader()).toBe(false)
  })

  test('one with other settings is refused while another lives, and reports settings that change while it runs', async () => {
    const { clock, start } = cluster()
    const a = await start('a')
    await clock.advance(5)
    await expect(start('b', { settings: { 'poll.lookback': '3600' } })).rejects.toThrow('poll.lookback is 3600 here')
    const b = await start('b')
    await clock.advance(10)
    // b has reloaded its configuration, and a has not yet.
    await b.clusterStore.declare({ 'poll.lookback': '7200' })
    await clock.advance(5)
    expect(counts(a, b)).toEqual([0, 12])
    expect(a.problem()).toMatch(/not that of b, which uses the same store: poll.lookback is \d+ here and 7200 there;/)
    expect(a.isLeader()).toBe(false)
    expect(b.isLeader()).toBe(true)
    await a.clusterStore.declare({ 'poll.lookback': '7200' })
    await clock.advance(10)
    expect(counts(a, b)).toEqual([6, 6])
    expect(a.problem()).toBeUndefined()
  })

  test('a store that refuses a daemon is reported as a problem of the store, not of the settings', async () => {
    const { clock, start } = cluster()
    const a = await start('a')
    await clock.advance(5)
    a.clusterStore.renew = async () => Promise.reject(new StoreError('refused', 'the password is wrong'))
    await clock.advance(5)
    expect(a.events.filter(({ kind }) => kind === 'problem')).toEqual([
      { kind: 'problem', of: 'store', problem: 'the password is wrong' },
    ])
  })

  test('a removed target is released, and a new one is acquired by one of them', async () => {
    const { clock, start } = cluster()
    const a = await start('a')
    await clock.advance(5)
    a.now.targets = TARGETS.slice(1)
    await clock.advance(3)
    expect(a.owned()).toEqual(TARGETS.slice(1))
    a.now.targets = TARGETS
    await clock.advance(3)
    expect(a.owned()).toEqual(expect.arrayContaining(TARGETS))
  })

  test('each knows the owner of each target', async () => {
    const { clock, start } = cluster()
    const [a, b] = [await start('a'), await start('b')]
    await clock.advance(10)
    const [theirs] = [...b.watched]
    expect(a.ownerOf(theirs!)).toBe('b')
  })
})

test('no target ever has two owners, and after a quiet period each has one, whatever happens to the daemons', async () => {
  const who = fc.integer({ min: 0, max: 2 })
  const event = fc.oneof(
    fc.record({ what: fc.constantFrom('start', 'stop', 'kill', 'cut', 'heal'), who }),
    fc.record({ what: fc.constant('wait'), who: fc.integer({ min: 1, max: 12 }) }),
  )
  await fc.assert(
    fc.asyncProperty(
      fc.array(event, { maxLength: 25, size: 'max' }),
      fc.integer({ min: 0, max: 3 }),
      async (history, busy) => {
        const { clock, start } = cluster(TARGETS.slice(0, 5))
        const alive = new Map<number, Daemon>()
        const wait = async (seconds: number) => {
          for (let i = 0; i < seconds * 4; i++) {
            await clock.advance(0.25)
            const owned = [...alive.values()].flatMap((daemon) => daemon.owned())
            expect(new Set(owned).size, `${owned.join()} at ${clock.monotonic()}`).toBe(owned.length)
          }
        }
        for (const { what, who: n } of history) {
          const daemon = alive.get(n)
          if (what === 'start' && daemon === undefined) alive.set(n, await start(`daemon ${n}`, { busy }))
          if (what === 'stop') {
            daemon?.stop()
            // As the program does: it waits for what is under way, and then leaves.
            await wait(busy + 1)
            await daemon?.leave().catch(() => undefined)
            daemon?.kill()
          }
          if (what === 'kill') daemon?.kill()
          if (what === 'stop' || what === 'kill') alive.delete(n)
          if (what === 'cut' && daemon !== undefined) daemon.now.isReachable = false
          if (what === 'heal' && daemon !== undefined) daemon.now.isReachable = true
          if (what === 'wait') await wait(n)
        }
        for (const daemon of alive.values()) daemon.now.isReachable = true
        await wait(3 * LEASE)
        const sizes = [...alive.values()].map((daemon) => daemon.owned().length)
        expect(sizes.reduce((sum, n) => sum + n, 0)).toBe(alive.size === 0 ? 0 : 5)
        expect(Math.max(0, ...sizes)).toBeLessThanOrEqual(Math.ceil(5 / Math.max(1, alive.size)))
      },
    ),
    { numRuns: runs(200) },
  )
})

test('a member that was dead and joins again is not the leader beside the new one, however slow the database is', async () => {
  const clock = virtualClock(0)
  const store = memoryCluster(clock)
  const start = async (name: string, isReachable = () => true) => {
    const inner = store.clusterStore(LEASE, isReachable)
    const slow = async () => void (await firstValueFrom(timer(1000, clock.scheduler)))
    const clusterStore: typeof inner = {
      ...inner,
      acquire: async (...given) => slow().then(() => inner.acquire(...given)),
      release: async (...given) => slow().then(() => inner.release(...given)),
    }
    const draining$ = new ReplaySubject<void>(1)
    await clusterStore.join(name, STARTING, SETTINGS)
    const ownership = sharedOwnership({ cluster: clusterStore, clock, name, targets: () => TARGETS, draining$ })
    const running = ownership.run(NEVER).subscribe()
    onTestFinished(() => running.unsubscribe())
    return { ...ownership, stop: () => draining$.next() }
  }
  let isReachable = true
  const a = await start('a', () => isReachable)
  await clock.advance(5)
  const b = await start('b')
  await clock.advance(30)
  isReachable = false
  await clock.advance(30)
  expect([a.isLeader(), b.isLeader()]).toEqual([false, true])
  b.stop()
  isReachable = true
  for (let i = 0; i < 200; i++) {
    await clock.advance(0.1)
    expect(a.isLeader() && b.isLeader()).toBe(false)
  }
})
