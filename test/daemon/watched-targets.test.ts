import { pino } from 'pino'
import { BehaviorSubject, ReplaySubject, Subject } from 'rxjs'
import { expect, onTestFinished, test } from 'vitest'
import { ALONE, type Turn } from '../../src/cluster/ownership.ts'
import { watchedTargets } from '../../src/daemon/watched-targets.ts'
import { budgetKey } from '../../src/daemon/watch.ts'
import type { Config, TargetConfig } from '../../src/config/config.ts'
import type { AdjustableBudget } from '../../src/polling/rate-budget.ts'
import type { MissedCommit } from '../../src/store/sharing.ts'
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts'
import { virtualClock } from '../clock/virtual-clock.ts'
import { memoryCluster } from '../cluster/memory-cluster.ts'

const LIMIT = 600
const EMPTY_LIST = JSON.stringify({ data: [], meta: { pagination: { total: 0 } } })

/** Targets of one key, each of them this daemon's when the test says so; with `missed` on a store that several share. */
async function sharing(names: readonly string[], missed?: (names: string[]) => Promise<MissedCommit[]>) {
  const clock = virtualClock()
  const targets = names.map((name): TargetConfig => {
    return { name, baseUrl: 'http://127.0.0.1:1', apiKey: 'key', query: { app: name } }
  })
  const poll: Config['poll'] = {
    interval: 15,
    pageSize: 100,
    maxAnswerBytes: 32 * 1024 * 1024,
    timeout: 1,
    retries: 0,
    lookback: 3600,
    sweepInterval: 60,
    maxRequestsPerMinute: LIMIT,
    baseline: 'count',
    details: 'missing',
    statusMap: {},
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what targets are watched by
  const config = { targets, poll, alerts: [] } as unknown as Config
  const limits: number[] = []
  const opened: string[] = []
  const budget: AdjustableBudget = {
    take: () => new Promise(() => undefined),
    heldFor: () => 0,
    holdBack: () => undefined,
    limitTo: (limit) => void limits.push(limit),
  }
  const turns = new Map(names.map((name) => [name, new Subject<Turn>()]))
  const stop$ = new ReplaySubject<void>(1)
  const store = openSqliteStore({ path: ':memory:' })
  const watched = watchedTargets({
    clock,
    random: () => 0,
    log: pino({ level: 'silent' }),
    store: {
      ...store,
      ...(missed && {
        sharing: { ...memoryCluster(clock).sharing(15), missed: (known) => missed([...known.keys()]) },
      }),
    },
    route: () => [],
    ownership: { ...ALONE, turn$: (name) => turns.get(name)! },
    budgets: new Map([[budgetKey(targets[0]!), budget]]),
    stop$,
    transportTo: (address) => {
      opened.push(address)
      return { send: async () => ({ status: 200, headers: {}, body: EMPTY_LIST }), close: async () => undefined }
    },
  })
  await watched.open(config)
  const config$ = new BehaviorSubject(config)
  const running = watched.follow(config$).subscribe()
  const following = watched.followOthers(stop$).subscribe()
  onTestFinished(() => {
    stop$.next()
    running.unsubscribe()
    following.unsubscribe()
  })
  /** Gives a target to this daemon, and returns what lets go of it. */
  const give = (name: string) => {
    const over = new ReplaySubject<void>(1)
    turns.get(name)!.next({ over$: over, lost$: new ReplaySubject<void>(1), use: () => () => undefined })
    return () => over.next()
  }
  const remove = (name: string) => config$.next({ ...config, targets: targets.filter((one) => one.name !== name) })
  return { clock, limits, opened, give, remove }
}

test('a daemon that has its store for itself opens each target once', async () => {
  const { clock, opened, give } = await sharing(['a', 'b'])
  for (const name of ['a', 'b']) give(name)
  await clock.advance(20)
  expect(opened).toHaveLength(2)
})

test('a target whose turn is over before it was opened is followed as before', async () => {
  let gate = Promise.resolve<MissedCommit[]>([])
  let asked: string[] = []
  const { clock, give } = await sharing(['a'], async (names) => {
    asked.push(...names)
    return gate
  })
  await clock.advance(2)
  const slow = Promise.withResolvers<MissedCommit[]>()
  gate = slow.promise
  const letGo = give('a')
  await clock.advance(0)
  letGo()
  slow.resolve([])
  gate = Promise.resolve([])
  await clock.advance(3)
  asked = []
  await clock.advance(3)
  expect(asked).toEqual(['a', 'a', 'a'])
})

test('one that is opened anew leaves the limit of its key as it is shared', async () => {
  let isGap = false
  const { clock, give, limits } = await sharing(['a', 'b', 'c'], async (names) =>
    isGap && names.includes('b') ? [{ target: 'b', commit: undefined }] : [],
  )
  give('a')
  await clock.advance(2)
  expect(limits.at(-1)).toBe(LIMIT / 3)
  isGap = true
  await clock.advance(2)
  expect(limits.at(-1)).toBe(LIMIT / 3)
  expect(Math.max(...limits)).toBe(LIMIT / 3)
})

test('what a removed target had of the limit of its key is for those that are left', async () => {
  const { clock, give, limits, remove } = await sharing(['a', 'b', 'c'], async () => [])
  give('a')
  await clock.advance(2)
  expect(limits.at(-1)).toBe(LIMIT / 3)
  remove('b')
  await clock.advance(2)
  expect(limits.at(-1)).toBe(LIMIT / 2)
})
