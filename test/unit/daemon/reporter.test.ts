import { pino } from 'pino'
import { expect, test } from 'vitest'
import type { DaemonEvent } from '../../../src/daemon/daemon-event.ts'
import { reporter } from '../../../src/daemon/reporting/reporter.ts'
import { ALONE } from '../../../src/cluster/ownership.ts'
import { storeHealth } from '../../../src/daemon/reporting/store-problem.ts'
import { healthRecord } from '../../../src/pipeline/health.ts'
import { virtualClock } from '../../kit/virtual-clock.ts'
import { pollEvent } from './poll-event.ts'
import { linesOf, readExposition } from '../../kit/metrics/read-exposition.ts'
import { FIRING, messageOf } from '../../kit/notifications/sample.ts'
import { metricsOf } from '../../../src/metrics/registry.ts'

/** What a reporter logs of these events, at level info; `pass` lets time pass. */
function logging() {
  const clock = virtualClock()
  const lines: Record<string, unknown>[] = []
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) })
  const metrics = metricsOf(() => [], '1.2.3')
  const mask = (text: string) => text.replace('secret', '***')
  const report = reporter({ log, metrics, clock, targets: { owned: () => ['a'] }, mask })
  const pass = async (seconds: number) => {
    await clock.advance(seconds)
    report({ kind: 'time' })
  }
  const logged = () => lines.splice(0).map(({ msg }) => msg)
  return { report, pass, logged, lines, clock }
}

/** A reporter of a daemon that polls `a` and notifies `slack`; `shown` are the lines of a metric that are above 0. */
function counting() {
  const metrics = metricsOf(() => [], '1.2.3')
  const report = reporter({
    log: pino({ level: 'silent' }),
    metrics,
    clock: virtualClock(),
    targets: { owned: () => ['a'] },
    receivers: { all: () => [{ name: 'slack', send: async () => undefined }] },
    mask: (text) => text,
  })
  const shown = async (name: string) =>
    linesOf(readExposition((await metrics.expose('prometheus')).body), name).filter((line) => !line.endsWith(' 0'))
  return { report, shown }
}

test('the store counts as writable again once the lease is renewed, also without a target that commits', async () => {
  const { report, shown } = counting()
  const seen: string[][] = []
  for (const [of, problem] of [
    ['store', 'away'],
    ['settings', 'other'],
    ['store', undefined],
  ] as const) {
    report({ kind: 'ownership', event: { kind: 'problem', of, problem } })
    seen.push(await shown('callwatch_store_writable'))
  }
  expect(seen).toEqual([['0'], ['0'], ['1']])
})

test('a store that cannot be used is one line of the log, and so is its return', () => {
  const { report, logged } = logging()
  const health = storeHealth(virtualClock(), ALONE)
  const happens = (event: DaemonEvent) => health.follow(event).forEach(report)
  const records = new Map(['a', 'b', 'c'].map((target) => [target, healthRecord(() => 0)]))
  for (const problem of [undefined, 'the disk of secret is full', undefined, 'and again']) {
    for (const [target, record] of records) happens(pollEvent(target, problem, record))
  }
  const messages = logged().map(String)
  expect(messages.filter((text) => !text.includes('target is up'))).toEqual([
    'nothing is counted until the store can be used: the disk of *** is full',
    'the store can be used again, after 0s',
    'nothing is counted until the store can be used: and again',
  ])
  expect(messages.filter((text) => text.includes('target is up'))).toHaveLength(3)
})

test('targets that move are one line of the log', () => {
  const { report, lines } = logging()
  const targets = Array.from({ length: 3000 }, (_, i) => `target ${i}`)
  report({ kind: 'ownership', event: { kind: 'acquired', targets } })
  report({ kind: 'ownership', event: { kind: 'lost', targets: ['a'] } })
  expect(lines).toMatchObject([
    { msg: '3000 targets were acquired: this daemon polls them', targets: targets.slice(0, 20) },
    { msg: '1 target was lost: other daemons may poll them' },
  ])
})

test('a problem of the store is a line when it begins and one when it ends, however many polls fail', async () => {
  const { report, pass, logged } = logging()
  report({ kind: 'store', problem: 'the disk of secret is full' })
  for (let minutes = 0; minutes < 40; minutes++) {
    report(pollEvent('a', 'the disk of secret is full'))
    await pass(60)
  }
  report({ kind: 'store', problem: undefined })
  await pass(3600)
  expect(logged()).toEqual([
    'nothing is counted until the store can be used: the disk of *** is full',
    'the store can be used again, after 40m',
  ])
})

test('a receiver works again once none of its messages fails, not with one that it accepts meanwhile', async () => {
  const { report, logged } = logging()
  const deliver = (outcome: 'sent' | 'retried', problem?: string) =>
    report({ kind: 'delivery', delivery: { receiver: 'slack', outcome, ...(problem !== undefined && { problem }) } })
  deliver('retried', 'Slack answered 404')
  // What it refuses is still offered to it.
  deliver('sent', 'Slack answered 404')
  deliver('retried', 'Slack answered 404')
  deliver('sent')
  deliver('sent')
  expect(logged()).toEqual([
    'notification retried: Slack answered 404',
    'slack works again after 0s; 2 attempts failed',
  ])
})

test('a recipient of a mail that fails does not work again with one that others get', async () => {
  const { report, logged } = logging()
  const deliver = (key: string, outcome: 'sent' | 'retried') =>
    report({ kind: 'delivery', delivery: { receiver: 'mail', key, outcome, problem: outcome === 'sent' ? '' : '451' } })
  deliver('mail ben', 'retried')
  deliver('mail ann', 'sent')
  deliver('mail ben', 'retried')
  deliver('mail ben', 'sent')
  expect(logged()).toEqual(['notification retried: 451', 'mail works again after 0s; 2 attempts failed'])
})

test('a receiver that fails is a line when it begins, and one when a message was sent again', async () => {
  const { report, pass, logged, lines } = logging()
  const message = messageOf([FIRING])
  const deliver = (outcome: 'sent' | 'retried', problem = '') =>
    report({ kind: 'delivery', delivery: { receiver: 'slack', outcome, message, problem } })
  for (let minutes = 0; minutes < 20; minutes += 5) {
    deliver('retried', 'Slack at secret answered 503')
    await pass(300)
  }
  deliver('sent')
  expect(lines.at(0)).toMatchObject({
    level: 40,
    receiver: 'slack',
    target: 'production',
    severity: 'critical',
    alerts: ['HighFailureRate firing'],
  })
  expect(lines.map(({ level }) => level)).toEqual([40, 30, 30])
  expect(logged()).toEqual([
    'notification retried: Slack at *** answered 503',
    'notification sent to slack',
    'slack works again after 20m; 4 attempts failed',
  ])
})

test('a poll that is due while another one runs counts as skipped', async () => {
  const { report, shown } = counting()
  report(pollEvent('a'))
  report({ kind: 'skipped', target: 'a' })
  expect(await shown('callwatch_polls_total')).toEqual(['outcome=complete 1', 'outcome=skipped 1'])
  expect(await shown('callwatch_up')).toEqual(['1'])
})

test('callwatch_notifications_total counts deliveries by receiver and outcome', async () => {
  const { report, shown } = counting()
  for (const outcome of ['retried', 'retried', 'sent'] as const)
    report({ kind: 'delivery', delivery: { receiver: 'slack', outcome } })
  expect(await shown('callwatch_notifications_total')).toEqual([
    'receiver=slack,outcome=sent 1',
    'receiver=slack,outcome=retried 2',
  ])
})
