import { pino } from 'pino'
import { merge, Subject } from 'rxjs'
import { expect, test } from 'vitest'
import { watch } from '../../src/commands/watch.ts'
import type { Config } from '../../src/config/config.ts'
import type { RateBudget } from '../../src/polling/rate-budget.ts'
import { openSqliteStore } from '../../src/store/sqlite-store.ts'
import { virtualClock } from '../clock/virtual-clock.ts'
import { CREATED } from '../ledger/seen.ts'

const LIMIT = 60
const EMPTY_LIST = JSON.stringify({ data: [], meta: { pagination: { total: 0 } } })

test('targets with the same address and key share one request budget, others have their own', async () => {
  const clock = virtualClock(CREATED)
  const asked: string[] = []
  const budgets = new Map<string, RateBudget>()
  const stop$ = new Subject<void>()
  const targets = ['a', 'b', 'c'].map((name) => ({
    name,
    baseUrl: 'http://127.0.0.1/v3',
    apiKey: name === 'c' ? 'another key' : 'key',
    query: {},
  }))
  const config: Config = {
    targets,
    poll: {
      interval: 1,
      pageSize: 10,
      timeout: 10,
      retries: 0,
      lookback: 86_400,
      sweepInterval: 900,
      maxRequestsPerMinute: LIMIT,
      baseline: 'skip',
      details: 'missing',
      statusMap: {},
    },
    store: { path: ':memory:', history: 86_400 },
    http: { host: '127.0.0.1', port: 0 },
    notify: { groupWait: 10, routes: [], mutes: [] },
    alerts: [],
    log: { level: 'info' },
  }
  const store = openSqliteStore({ path: ':memory:', notifiersFor: () => [] })
  const watches = []
  for (const target of targets) {
    const send = async ({ headers }: { headers: Record<string, string> }) => {
      asked.push(headers['apikey']!)
      return { status: 200, headers: {}, body: EMPTY_LIST }
    }
    const transportTo = () => ({ send, close: async () => undefined })
    const abandon = new AbortController().signal
    const log = pino({ level: 'silent' })
    const shared = { config, clock, random: () => 0, log, store, budgets, stop$, transportTo, abandon }
    watches.push(await watch({ ...shared, target, offset: 0 }))
  }
  const watching = merge(...watches.map(({ events$ }) => events$)).subscribe()
  await clock.advance(60)
  watching.unsubscribe()
  await store.close()
  expect(budgets.size).toBe(2)
  expect(asked.filter((key) => key === 'key').length).toBeLessThanOrEqual(LIMIT)
  expect(asked.filter((key) => key === 'another key').length).toBeGreaterThan(LIMIT / 2)
})
