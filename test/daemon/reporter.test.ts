import { pino } from 'pino'
import { expect, test } from 'vitest'
import { reporter } from '../../src/daemon/reporter.ts'
import { metricsOf } from '../../src/metrics/registry.ts'
import { eventFeed } from '../../src/web/event-feed.ts'

test('the store counts as writable again once the lease is renewed, also without a target that commits', async () => {
  const { operational: metrics } = metricsOf(() => [], '1.2.3')
  const log = pino({ level: 'silent' })
  const report = reporter({ log, metrics, feed: eventFeed(), targets: { own: () => [] }, mask: (text) => text })
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
