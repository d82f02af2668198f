import { pino } from 'pino'
import { expect, test } from 'vitest'
import { reporter } from '../../src/daemon/reporter.ts'
import { metricsOf } from '../../src/metrics/registry.ts'
import { eventFeed } from '../../src/web/event-feed.ts'
import { readiness } from '../../src/web/readiness.ts'
import { newLedger } from '../../src/ledger/state.ts'
import { watchedTarget } from '../web/serve.ts'

test('the store counts as writable again once the lease can be kept, also where no target is left to commit', async () => {
  const { operational: metrics } = metricsOf(() => [], '1.2.3')
  const log = pino({ level: 'silent' })
  const report = reporter({ log, metrics, feed: eventFeed(), targets: [], mask: (text) => text })
  const seen: (number | undefined)[] = []
  for (const [of, problem] of [
    ['store', 'away'],
    ['settings', 'other'],
    ['store', undefined],
  ] as const) {
    report({ kind: 'ownership', event: { kind: 'trouble', of, problem } })
    seen.push((await metrics.storeWritable.get()).values[0]?.value)
  }
  expect(seen).toEqual([0, 0, 1])
})

test.each([
  ['a page', '200', 'not ready'],
  ['no page', '401', 'degraded'],
])('a target that was never read, and whose cycle brought %s (%s), makes callwatch %s', (_what, code, status) => {
  const { operational: metrics } = metricsOf(() => [], '1.2.3')
  const log = pino({ level: 'silent' })
  const targets = [watchedTarget({ facts: newLedger(0).facts }), watchedTarget({ target: 'b' })]
  const report = reporter({ log, metrics, feed: eventFeed(), targets, mask: (text) => text })
  const requests = [
    { operation: 'list_calls' as const, code, seconds: 0.1 },
    { operation: 'get_call' as const, code: '200', seconds: 0.1 },
  ]
  const cycle = { outcome: 'partial' as const, good: false, seconds: 1, remaining: undefined, storeFailed: false }
  const ended = { kind: 'cycle' as const, report: { ...cycle, requests, problem: 'x' } }
  report({ kind: 'watch', target: targets[0]!.target, event: ended })
  expect(readiness(targets, undefined).status).toBe(status)
})
