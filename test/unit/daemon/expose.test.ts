import { setTimeout as wait } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { systemClock } from '../../../src/clock/clock.ts'
import { exposer } from '../../../src/daemon/expose.ts'
import { deliveryFailures } from '../../../src/notifications/delivery/delivery-failures.ts'
import { metricsOf } from '../../../src/metrics/registry.ts'
import { initSeries, removeSeries } from '../../../src/metrics/series.ts'
import { openSqliteStore } from '../../../src/store/open-sqlite.ts'
import { StoreError } from '../../../src/store/store-error.ts'
import type { Store } from '../../../src/store/store.ts'
import { webhookOf } from '../../kit/events/webhooks/any-webhook.ts'

const SLOW_MS = 30

/** Two messages to Slack fail, one of them for a minute. */
function deliveryFailing() {
  const failures = deliveryFailures((text) => text)
  failures.watch({ name: 'slack' }, () => ({ problem: '503', next: 0, pending: 2, oldest: systemClock.wall() - 60 }))
  return failures
}

async function exposing(change: (store: Store) => Partial<Store> = () => ({})) {
  const store = openSqliteStore({ path: ':memory:' })
  await store.saveWebhook({ name: 'crm', revision: 0, progress: { cursor: '0', paused: 'it answered 410' } })
  const expose = exposer({
    metrics: metricsOf(() => [], 'test'),
    store: { ...store, ...change(store) },
    clock: systemClock,
    failures: deliveryFailing(),
    targets: { all: () => ['a', 'b'], loaded: () => [] },
    receivers: { names: () => ['slack', 'pager'] },
    config: () => ({ events: { retention: 0, participants: false, webhooks: [webhookOf({ name: 'crm' })] } }),
    droppedLines: () => 3,
  })
  return async () => (await expose('prometheus')).body
}

const PENDING = 'callwatch_notifications_pending{receiver="slack"} 2'
const PAUSED = 'callwatch_webhook_paused{webhook="crm"} 1'

test('a scrape shows what waits for receivers and webhooks, and how large the store is', async () => {
  const scrape = await exposing()
  const body = await scrape()
  expect(body).toContain(PENDING)
  expect(body).toMatch(/^callwatch_notification_oldest_pending_seconds\{receiver="slack"\} 6\d/m)
  expect(body).toContain('callwatch_notifications_pending{receiver="pager"} 0')
  expect(body).toContain(PAUSED)
  expect(body).toContain('callwatch_targets 2')
  expect(body).toMatch(/^callwatch_store_bytes \d{5,}$/m)
})

test('each scrape shows how many lines of the log were dropped so far', async () => {
  const scrape = await exposing()
  await scrape()
  expect(await scrape()).toContain('\ncallwatch_log_lines_dropped_total 3\n')
})

test('a store that answers later is waited for only shortly; the next scrape shows what it said', async () => {
  const answer = Promise.withResolvers<void>()
  const scrape = await exposing((store) => ({
    webhooks: async () => {
      await answer.promise
      return store.webhooks()
    },
  }))
  expect(await scrape()).not.toContain(PAUSED)
  answer.resolve()
  await vi.waitFor(async () => expect(await scrape()).toContain(PAUSED), 10_000)
})

test('what cannot be read now keeps its value, and does not keep the rest from being read', async () => {
  let isAway = false
  const scrape = await exposing((store) => ({
    webhooks: async () => {
      if (isAway) throw new StoreError('unavailable', 'the disk is full')
      return store.webhooks()
    },
  }))
  await scrape()
  isAway = true
  const body = await scrape()
  expect(body).toContain(PAUSED)
  expect(body).toContain(PENDING)
  expect(body).toMatch(/^callwatch_store_bytes \d{5,}$/m)
})

test('a webhook that is removed while a scrape waits for the store has no series afterwards', async () => {
  const store = openSqliteStore({ path: ':memory:' })
  await store.saveWebhook({ name: 'crm', revision: 0, progress: { cursor: '0' } })
  const metrics = metricsOf(() => [], 'test')
  let webhooks = [webhookOf({ name: 'crm' })]
  const { promise, resolve: answer } = Promise.withResolvers<void>()
  const expose = exposer({
    metrics,
    store: { ...store, webhooks: () => promise.then(store.webhooks) },
    clock: systemClock,
    failures: deliveryFailing(),
    targets: { all: () => [], loaded: () => [] },
    receivers: { names: () => [] },
    config: () => ({ events: { retention: 0, participants: false, webhooks } }),
    droppedLines: () => 0,
  })
  initSeries(metrics.operational, 'webhook', 'crm')
  const scrape = expose('prometheus')
  webhooks = []
  removeSeries(metrics.operational, 'webhook', 'crm')
  answer()
  await scrape
  await wait(SLOW_MS)
  expect((await expose('prometheus')).body).not.toContain('webhook="crm"')
})
