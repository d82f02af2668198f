import { pino } from 'pino'
import { interval, BehaviorSubject, ReplaySubject, Subject } from 'rxjs'
import { onTestFinished } from 'vitest'
import { ALONE, type Lease } from '../../../src/cluster/ownership.ts'
import type { Config } from '../../../src/config/config.ts'
import type { TargetConfig } from '../../../src/service/target-section.ts'
import { UNLIMITED, type AdjustableRateLimiter } from '../../../src/polling/rate-limiter.ts'
import type { ClusterStore } from '../../../src/store/cluster-store.ts'
import { openSqliteStore } from '../../../src/store/open-sqlite.ts'
import { StoreError } from '../../../src/store/store-error.ts'
import type { Commit } from '../../../src/store/store.ts'
import { lifecycle, type TargetEvent } from '../../../src/pipeline/lifecycle.ts'
import { rateLimitKey } from '../../../src/pipeline/target.ts'
import { virtualClock } from '../../kit/virtual-clock.ts'
import { memoryCluster } from '../cluster/memory-cluster.ts'
import { pollConfig } from '../../kit/pipeline/settings.ts'

export const LIMIT = 600
/** Grants nothing. */
export const NOTHING_GRANTED: AdjustableRateLimiter = {
  ...UNLIMITED,
  take: () => new Promise(() => undefined),
  pausedFor: () => 77,
}
const EMPTY_LIST = JSON.stringify({ data: [], meta: { pagination: { total: 0 } } })

/** Targets of one key, each of them this daemon's when the test says so; `isShared`, on a store that several share. */
export async function sharing(
  names: readonly string[],
  {
    isShared = false,
    startsAfter = 0,
    rateLimiter = NOTHING_GRANTED,
  }: { isShared?: boolean; startsAfter?: number; rateLimiter?: AdjustableRateLimiter } = {},
) {
  const clock = virtualClock()
  const targets = names.map((name): TargetConfig => {
    return { name, baseUrl: 'http://127.0.0.1:1', apiKey: 'key', query: { app: name } }
  })
  const poll = pollConfig({
    timeout: 1,
    lookback: 3600,
    sweepInterval: 60,
    maxRequestsPerMinute: LIMIT,
    baseline: 'count',
  })
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what targets depend on
  const config = { targets, poll, alerts: [], events: {} } as unknown as Config
  const limits: number[] = []
  const opened: string[] = []
  const shared: AdjustableRateLimiter = {
    ...rateLimiter,
    setLimit: (limit, share) => void limits.push(limit * (share ?? 1)),
  }
  const leases = new Map(names.map((name) => [name, new Subject<Lease>()]))
  const draining$ = new ReplaySubject<void>(1)
  const store = openSqliteStore({ path: ':memory:' })
  const addTargets: ClusterStore['addTargets'] = async (identities, created) => {
    for (const identity of identities) await store.openTarget(identity, created, 0)
  }
  /** With the keys of the requests since a test cleared them. */
  const service = { isOwned: true, asked: 0, keys: new Set<string | undefined>() }
  const storage = { losesAnswers: false, log: [] as { target: string; commit: Commit }[], closed: [] as string[] }
  const gate: { isAway?: boolean; isUnreadable?: boolean; loads?: Promise<void> } = {}
  const watched = lifecycle({
    mask: (text) => text,
    clock,
    random: () => 0,
    log: pino({ level: 'silent' }),
    store: {
      ...store,
      openTarget: async (...asked) => {
        await gate.loads
        if (gate.isUnreadable === true) throw new StoreError('unavailable', 'the database cannot be reached')
        return store.openTarget(...asked)
      },
      pausedUntil: async (key) => {
        if (gate.isUnreadable === true) throw new StoreError('unavailable', 'the database cannot be reached')
        return store.pausedUntil(key)
      },
      expireAlerts: async (...closed) => {
        if (gate.isAway === true) throw new StoreError('unavailable', 'the disk is full')
        storage.closed.push(closed[0])
        return store.expireAlerts(...closed)
      },
      commit: async (target, commit) => {
        await store.commit(target, commit)
        storage.log.push({ target, commit })
        if (storage.losesAnswers) throw new StoreError('unavailable', 'the connection was closed')
      },
      ...(isShared && { cluster: { ...memoryCluster(clock).clusterStore(15), addTargets } }),
    },
    ownership: { ...ALONE, lease$: (name) => leases.get(name)!, owns: () => service.isOwned },
    rateLimiters: new Map([[rateLimitKey(targets[0]!), shared]]),
    draining$,
    transportTo: (address) => {
      opened.push(address)
      return async ({ headers }) => {
        service.asked += 1
        service.keys.add(headers['apikey'])
        return { status: 200, headers: { date: new Date(clock.wall() * 1000).toUTCString() }, body: EMPTY_LIST }
      }
    },
  })
  await watched.open(config)
  const config$ = new BehaviorSubject(config)
  await clock.advance(startsAfter)
  const polled: string[] = []
  const events: TargetEvent[] = []
  const running = watched.run(config$).subscribe((event) => {
    events.push(event)
    if (event.kind === 'polled') polled.push(event.target)
  })
  const following = interval(1000, clock.scheduler).subscribe(() => void watched.replicatePauses())
  onTestFinished(() => {
    draining$.next()
    running.unsubscribe()
    following.unsubscribe()
  })
  /** Gives a target to this daemon; what is returned releases it, ends its lease at once, or gives it again after a reload. */
  const give = (name: string) => {
    const [draining$, aborted$] = [new ReplaySubject<void>(1), new ReplaySubject<void>(1)]
    const state = { isDraining: false, isAborted: false }
    const lease: Lease = {
      draining$,
      aborted$,
      isDraining: () => state.isDraining,
      isAborted: () => state.isAborted,
      hold: () => () => undefined,
    }
    const again = () => leases.get(name)!.next(lease)
    again()
    const release = () => {
      state.isDraining = true
      draining$.next()
    }
    const end = () => {
      state.isAborted = true
      release()
      aborted$.next()
    }
    return { release, end, again }
  }
  const reload = async (change: Partial<Config>) => {
    const next = { ...config, ...change }
    await watched.open(next)
    config$.next(next)
  }
  const remove = (name: string) => reload({ targets: targets.filter((one) => one.name !== name) })
  return { clock, service, storage, limits, opened, give, remove, reload, gate, polled, events, watched, targets, poll }
}
