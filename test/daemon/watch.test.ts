import { pino } from 'pino'
import { merge, NEVER } from 'rxjs'
import { expect, onTestFinished, test } from 'vitest'
import { budgetKey, watch } from '../../src/daemon/watch.ts'
import { ALONE } from '../../src/cluster/ownership.ts'
import type { PollConfig } from '../../src/config/config.ts'
import type { AdjustableBudget } from '../../src/polling/rate-budget.ts'
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts'
import { StoreError, type Store } from '../../src/store/store.ts'
import { virtualClock } from '../clock/virtual-clock.ts'
import { CREATED } from '../ledger/seen.ts'

const LIMIT = 60
const EMPTY_LIST = JSON.stringify({ data: [], meta: { pagination: { total: 0 } } })

type Answer = { status: number; headers: Record<string, string>; body: string }

/** Watches these targets (name and key) once a second on a virtual clock, over this store. */
async function watching(keys: Record<string, string>, answer: (apiKey: string) => Answer, store: Store) {
  const clock = virtualClock(CREATED)
  const budgets = new Map<string, AdjustableBudget>()
  const targets = Object.entries(keys).map(([name, apiKey]) => ({
    name,
    baseUrl: 'http://127.0.0.1/v3',
    apiKey,
    query: {},
  }))
  const poll: PollConfig = {
    interval: 1,
    pageSize: 10,
    maxAnswerBytes: 32 * 1024 * 1024,
    timeout: 10,
    retries: 0,
    lookback: 86_400,
    sweepInterval: 900,
    maxRequestsPerMinute: LIMIT,
    baseline: 'skip',
    details: 'missing',
    statusMap: {},
  }
  const send = async ({ headers }: { headers: Record<string, string> }) => answer(headers['apikey']!)
  const transportTo = () => ({ send, close: async () => undefined })
  const log = pino({ level: 'silent' })
  const shared = {
    clock,
    random: () => 0,
    log,
    store,
    route: () => [],
    ownership: ALONE,
    budgets,
    stop$: NEVER,
    transportTo,
  }
  const watches = []
  for (const target of targets) watches.push(await watch({ ...shared, part: { target, poll, rules: [] }, offset: 0 }))
  const running = merge(...watches.map(({ run }) => run(NEVER, NEVER))).subscribe()
  onTestFinished(() => running.unsubscribe())
  return { clock, budgets, targets, shared, poll }
}

function memory(): Store {
  const store = openSqliteStore({ path: ':memory:' })
  onTestFinished(() => store.close())
  return store
}

test('targets with the same address and key share one request budget, others have their own', async () => {
  const asked: string[] = []
  const answer = (apiKey: string) => {
    asked.push(apiKey)
    return { status: 200, headers: {}, body: EMPTY_LIST }
  }
  const { clock, budgets } = await watching({ a: 'key', b: 'key', c: 'another key' }, answer, memory())
  await clock.advance(60)
  expect(budgets.size).toBe(2)
  expect(asked.filter((key) => key === 'key').length).toBeLessThanOrEqual(LIMIT)
  expect(asked.filter((key) => key === 'another key').length).toBeGreaterThan(LIMIT / 2)
})

test('a hold that the store could not take is written as soon as it can', async () => {
  const store = memory()
  let attempts = 0
  const hold: Store['hold'] = async (key, until) => {
    attempts += 1
    if (attempts <= 3) throw new StoreError('unavailable', 'database is locked')
    return store.hold(key, until)
  }
  const answer = () => ({ status: 429, headers: { 'retry-after': '600' }, body: '{}' })
  const { clock, targets } = await watching({ a: 'key' }, answer, { ...store, hold })
  await clock.advance(10)
  expect(attempts).toBe(4)
  const until = await store.heldUntil(budgetKey(targets[0]!))
  expect(until! - CREATED).toBeGreaterThan(600)
})

test('a watch in the place of another takes its own limit of requests to the budget that there is', async () => {
  const answer = () => ({ status: 200, headers: {}, body: EMPTY_LIST })
  const { clock, budgets, targets, shared, poll } = await watching({ a: 'key' }, answer, memory())
  const [budget] = budgets.values()
  const quicker = { ...poll, maxRequestsPerMinute: 6000 }
  await watch({ ...shared, part: { target: targets[0]!, poll: quicker, rules: [] }, offset: 0 })
  expect([...budgets.values()]).toEqual([budget])
  let granted = 0
  for (let i = 0; i < 500; i++) void budget!.take(new AbortController().signal).then(() => (granted += 1))
  await clock.advance(10)
  expect(granted).toBe(500)
})
