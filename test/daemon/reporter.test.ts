import { pino } from 'pino'
import { expect, test } from 'vitest'
import { computeDelta } from '../../src/ledger/compute-delta.ts'
import { newLedger } from '../../src/ledger/state.ts'
import { completePoll, CREATED, seen } from '../ledger/seen.ts'
import { OPTIONS } from '../store/contract/place.ts'
import { reporter } from '../../src/daemon/reporter.ts'
import { metricsOf } from '../../src/metrics/registry.ts'
import { eventFeed } from '../../src/web/event-feed.ts'

test('the store counts as writable again once the lease is renewed, also without a target that commits', async () => {
  const { operational: metrics } = metricsOf(() => [], '1.2.3')
  const log = pino({ level: 'silent' })
  const report = reporter({ log, metrics, feed: eventFeed(), targets: { owned: () => [] }, mask: (text) => text })
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

test('a commit that the log repeats is published once, as is one of another daemon', () => {
  const { operational: metrics } = metricsOf(() => [], '1.2.3')
  const feed = eventFeed()
  const log = pino({ level: 'silent' })
  const report = reporter({ log, metrics, feed, targets: { owned: () => [] }, mask: (text) => text })
  const ledger = computeDelta(newLedger(CREATED), completePoll(1, seen('c', 'ongoing')), OPTIONS)!
  const alerts = { changed: [], ended: [], notifications: [] }
  const published = () => feed.latest(100).length
  report({ kind: 'committed', committed: { target: 'own', ledger, alerts, seconds: 0 } })
  const { length } = ledger.transitions
  expect([length > 0, published()]).toEqual([true, length])
  for (const target of ['own', 'other', 'other'])
    report({ kind: 'committed elsewhere', target, commit: { ledger, alerts } })
  expect(published()).toBe(2 * length)
  const sync = { ...ledger.sync, created: ledger.sync.created + 1 }
  report({ kind: 'committed elsewhere', target: 'other', commit: { ledger: { ...ledger, sync }, alerts } })
  expect(published()).toBe(3 * length)
})

test('targets that move are one line of the log', () => {
  const lines: string[] = []
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) })
  const { operational: metrics } = metricsOf(() => [], '1.2.3')
  const report = reporter({ log, metrics, feed: eventFeed(), targets: { owned: () => [] }, mask: (text) => text })
  const targets = Array.from({ length: 3000 }, (_, i) => `target ${i}`)
  report({ kind: 'ownership', event: { kind: 'acquired', targets } })
  report({ kind: 'ownership', event: { kind: 'lost', targets: ['a'] } })
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { msg: '3000 targets were acquired: this daemon polls them', targets: targets.slice(0, 20) },
    { msg: '1 target was lost: other daemons may poll them' },
  ])
})
