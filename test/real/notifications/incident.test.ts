import { expect, test } from 'vitest'
import type { AlertMessage } from '../../../src/notifications/message.ts'
import { slackMessage } from '../../../src/notifications/receivers/slack/slack-message.ts'
import { sending, type Sending } from '../../kit/notifications/delivery/sending.ts'

const TARGETS = 300
const HIT = 199
const GROUPED = { groupBy: ['alert', 'severity'], groupWait: 20, groupInterval: 300, targets: TARGETS } as const
const high = (n: number) => ({ name: 'HighFailureRate', target: `target ${n}` })
const veryHigh = (n: number) => ({ name: 'VeryHighFailureRate', target: `target ${n}`, severity: 'critical' as const })
const alertsOf = ({ messages }: Sending) =>
  messages.filter((message): message is AlertMessage => message.kind === 'alerts')

/** A burst: polls find it within an interval of fifteen seconds, on most targets a worse one in the next; it ends after ten minutes. */
async function burst(run: Sending, amid: (run: Sending) => void = () => undefined) {
  const { fire, resolve, clock } = run
  const each = async (count: number, perSecond: number, change: (n: number) => Promise<unknown>) => {
    for (let n = 0; n < count; n++) {
      await change(n)
      if (n % perSecond === perSecond - 1) await clock.advance(1)
    }
  }
  await each(TARGETS, 20, (n) => fire(high(n)))
  const criticalAt = clock.monotonic()
  await each(HIT, 20, (n) => fire(veryHigh(n), { value: n === 42 ? 0.734 : 0.6 }))
  amid(run)
  await clock.advance(600)
  await each(HIT, 20, (n) => resolve(veryHigh(n)))
  await each(TARGETS, 20, (n) => resolve(high(n)))
  await clock.advance(900)
  return criticalAt
}

test('an incident on three hundred targets is seven messages at most, and the critical one comes first', async () => {
  const run = sending(GROUPED)
  const criticalAt = await burst(run)
  const messages = alertsOf(run)
  expect(messages.length).toBeLessThanOrEqual(7)
  const first = messages.findIndex(({ severity }) => severity === 'critical')
  expect(run.received[first]![0] - criticalAt).toBeLessThanOrEqual(GROUPED.groupWait + 2)
})

test('each alert of it is notified once when it fires and once when it ends', async () => {
  const run = sending(GROUPED)
  await burst(run)
  const changes = alertsOf(run).flatMap(({ alerts }) => alerts.map(({ notification }) => notification))
  for (const kind of ['firing', 'resolved'] as const) {
    const critical = changes.filter((change) => change.severity === 'critical' && change.kind === kind)
    expect(new Set(critical.map(({ target }) => target)).size).toBe(HIT)
    expect(critical).toHaveLength(HIT)
  }
})

test('a process that dies amid it loses nothing, and says nothing twice', async () => {
  const run = sending(GROUPED)
  await burst(run, ({ restart }) => restart())
  const changes = alertsOf(run).flatMap(({ alerts }) => alerts.map(({ notification }) => notification))
  for (const kind of ['firing', 'resolved'] as const)
    expect(changes.filter((change) => change.severity === 'critical' && change.kind === kind)).toHaveLength(HIT)
  expect(alertsOf(run).length).toBeLessThanOrEqual(7)
})

test('Slack shows on how many targets it fires, and the three worst', async () => {
  const run = sending(GROUPED)
  await run.clock.advance(1)
  for (let n = 0; n < HIT; n++) await run.fire(veryHigh(n), { value: n === 42 ? 734 : 60 })
  await run.clock.advance(22)
  const [message] = alertsOf(run)
  const { text, blocks } = slackMessage(message!, { now: run.clock.wall() })
  expect(text).toContain('🔴 critical: 199 of 300 targets: ')
  expect(JSON.stringify(blocks)).toMatch(/Worst: target 42 734 calls, target \d+ 60 calls, target \d+ 60 calls/)
})

test('what changes while alerts of a group fire waits for the interval, and a new incident only for the wait', async () => {
  const run = sending(GROUPED)
  const { fire, resolve, clock, received } = run
  await fire(high(1))
  await clock.advance(30)
  await fire(high(2))
  await resolve(high(1))
  await clock.advance(200)
  expect(received).toHaveLength(1)
  await clock.advance(120)
  expect(received).toHaveLength(2)
  await resolve(high(2))
  await clock.advance(320)
  expect(received).toHaveLength(3)
  const again = clock.monotonic()
  await fire(high(3))
  await clock.advance(30)
  expect(received[3]![0] - again).toBeLessThanOrEqual(22)
})
