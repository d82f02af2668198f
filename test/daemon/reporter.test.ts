import { pino } from 'pino'
import { merge, Subject } from 'rxjs'
import { expect, test } from 'vitest'
import type { DaemonEvent } from '../../src/daemon/daemon-event.ts'
import { reporter } from '../../src/daemon/reporter.ts'
import { storeEvents } from '../../src/daemon/store-trouble.ts'
import { healthRecord } from '../../src/target/health.ts'
import { pollEvent } from './poll-event.ts'
import { metricsOf } from '../../src/metrics/registry.ts'

test('the store counts as writable again once the lease is renewed, also without a target that commits', async () => {
  const { operational: metrics } = metricsOf(() => [], '1.2.3')
  const log = pino({ level: 'silent' })
  const report = reporter({ log, metrics, targets: { owned: () => [] }, mask: (text) => text })
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

test('a store that cannot be used is one line of the log, and so is its return', () => {
  const lines: string[] = []
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) })
  const { operational: metrics } = metricsOf(() => [], '1.2.3')
  const mask = (text: string) => text.replace('secret', '***')
  const report = reporter({ log, metrics, targets: { owned: () => [] }, mask })
  const events$ = new Subject<DaemonEvent>()
  merge(storeEvents(events$), events$).subscribe(report)
  const records = new Map(['a', 'b', 'c'].map((target) => [target, healthRecord(() => 0)]))
  for (const problem of [undefined, 'the disk of secret is full', undefined, 'and again']) {
    for (const [target, record] of records) events$.next(pollEvent(target, problem, record))
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
  const report = reporter({ log, metrics, targets: { owned: () => [] }, mask: (text) => text })
  const targets = Array.from({ length: 3000 }, (_, i) => `target ${i}`)
  report({ kind: 'ownership', event: { kind: 'acquired', targets } })
  report({ kind: 'ownership', event: { kind: 'lost', targets: ['a'] } })
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { msg: '3000 targets were acquired: this daemon polls them', targets: targets.slice(0, 20) },
    { msg: '1 target was lost: other daemons may poll them' },
  ])
})
