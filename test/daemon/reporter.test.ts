import { pino } from 'pino'
import { merge, Subject } from 'rxjs'
import { expect, test } from 'vitest'
import { computeDelta } from '../../src/ledger/compute-delta.ts'
import { newLedger } from '../../src/ledger/state.ts'
import { completePoll, CREATED, seen } from '../ledger/seen.ts'
import { OPTIONS } from '../store/contract/place.ts'
import type { DaemonEvent } from '../../src/daemon/daemon-event.ts'
import { reporter } from '../../src/daemon/reporter.ts'
import { storeEvents } from '../../src/daemon/store-trouble.ts'
import type { PollReport } from '../../src/polling/poll-report.ts'
import { healthRecord } from '../../src/target/health.ts'
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

test('a store that cannot be used is one line of the log, and so is its return', () => {
  const lines: string[] = []
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) })
  const { operational: metrics } = metricsOf(() => [], '1.2.3')
  const mask = (text: string) => text.replace('secret', '***')
  const report = reporter({ log, metrics, feed: eventFeed(), targets: { owned: () => [] }, mask })
  const events$ = new Subject<DaemonEvent>()
  merge(storeEvents(events$), events$).subscribe(report)
  const records = new Map(['a', 'b', 'c'].map((target) => [target, healthRecord(() => 0)]))
  const poll = (target: string, problem?: string) => {
    const [successful, storeFailed] = [problem === undefined, problem !== undefined]
    const made: PollReport = {
      outcome: successful ? 'complete' : 'failed',
      successful,
      seconds: 1,
      requests: [],
      remaining: undefined,
      problem,
      storeFailed,
    }
    const before = records.get(target)!.current()
    records.get(target)!.add(made)
    events$.next({ kind: 'polled', target, report: made, before, sync: newLedger(CREATED).sync })
  }
  for (const problem of [undefined, 'the disk of secret is full', undefined, 'and again']) {
    for (const target of records.keys()) poll(target, problem)
  }
  const said = lines.map((line): string => JSON.parse(line).msg)
  expect(said.filter((text) => !text.includes('target is up'))).toEqual([
    'nothing is counted until the store can be used: the disk of *** is full',
    'the store can be used again',
    'nothing is counted until the store can be used: and again',
  ])
  expect(said.filter((text) => text.includes('target is up'))).toHaveLength(3)
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
