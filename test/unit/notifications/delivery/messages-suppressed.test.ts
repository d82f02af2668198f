import { describe, expect, test } from 'vitest'
import { isoTime } from '../../../../src/clock/times.ts'
import { alertHistory } from '../../../kit/history/as-shown.ts'
import { ERRORS, AT, sending, type Sending, type Step } from '../../../kit/notifications/delivery/sending.ts'

const A = { name: 'A' }
const B = { name: 'B' }
const NO_POLL = { name: 'NoGoodPoll', severity: 'critical' } as const
/** For how long something suppresses alerts (seconds). */
const LONG = 600

/** What keeps alerts of `production` from being notified for a while, from now. */
const WAYS: [string, () => { sent: Sending; begin: () => Promise<void>; end: () => Promise<void> }][] = [
  [
    'a silence',
    () => {
      const sent = sending({ groupWait: 10 })
      const begin = async () => {
        const since = sent.clock.wall()
        await sent.store.addSilence({ match: { target: 'production' }, since, until: since + LONG, reason: 'deploy' })
      }
      return { sent, begin, end: async () => undefined }
    },
  ],
  [
    'a mute',
    () => {
      // It is a quarter past nine in Berlin, on a Friday.
      const mute = { start: '16 9 * * 5', duration: LONG, timezone: 'Europe/Berlin', match: { target: 'production' } }
      const sent = sending({ groupWait: 10, mutes: [mute], at: AT - 30 })
      return { sent, begin: () => sent.clock.advance(60 - (sent.clock.wall() % 60)), end: async () => undefined }
    },
  ],
  [
    'polls that fail',
    () => {
      const sent = sending({ groupWait: 10 })
      return {
        sent,
        begin: async () => void (await sent.fire(NO_POLL)),
        end: async () => void (await sent.resolve(NO_POLL)),
      }
    },
  ],
]

describe.each(WAYS)('alerts that %s suppress', (_way, held) => {
  const ofWarnings = ({ messages, received }: Sending) =>
    messages.flatMap((message, i) =>
      message.kind === 'alerts' && message.severity === 'warning' ? received[i]![1] : [],
    )

  test('wait while they fire, and are notified afterwards if they still fire, with the value of that moment', async () => {
    const { sent, begin, end } = held()
    await begin()
    await sent.fire(A)
    await sent.clock.advance(LONG - 60)
    expect(ofWarnings(sent)).toEqual([])
    sent.see(A, { value: 0.9 })
    await sent.clock.advance(60)
    await end()
    await sent.clock.advance(12)
    expect(ofWarnings(sent)).toEqual(['firing A'])
    const notification = sent.messages.find((message) => message.kind === 'alerts' && message.severity === 'warning')
    expect(notification).toMatchObject({ alerts: [{ notification: { value: 0.9 } }] })
  })

  test('and that have ended by then are not notified', async () => {
    const { sent, begin, end } = held()
    await begin()
    await sent.fire(A)
    await sent.clock.advance(LONG / 2)
    await sent.resolve(A)
    await sent.clock.advance(LONG)
    await end()
    await sent.clock.advance(60)
    expect(ofWarnings(sent)).toEqual([])
  })

  test('and that were notified before have their end notified at once', async () => {
    const { sent, begin, end } = held()
    await sent.fire(A)
    await sent.clock.advance(20)
    expect(ofWarnings(sent)).toEqual(['firing A'])
    await begin()
    await sent.clock.advance(LONG / 2)
    expect(ofWarnings(sent)).toHaveLength(1)
    await sent.resolve(A)
    await sent.clock.advance(2)
    expect(ofWarnings(sent).slice(1)).toEqual(['resolved A'])
    await sent.clock.advance(LONG)
    await end()
    await sent.clock.advance(60)
    expect(ofWarnings(sent)).toHaveLength(2)
  })

  test('do not affect other targets', async () => {
    const { sent, begin } = held()
    await begin()
    await sent.fire({ name: 'Elsewhere', target: 'staging' })
    await sent.clock.advance(12)
    expect(ofWarnings(sent)).toEqual(['firing Elsewhere'])
  })
})

test('failing polls suppress all alerts of the target but the one on poll_age', async () => {
  const { fire, clock, received } = sending({ groupWait: 10 })
  await fire(NO_POLL)
  await fire({ name: 'Critical', severity: 'critical' })
  await clock.advance(60)
  expect(received).toEqual([[10, 'firing NoGoodPoll']])
})

test('an alert on poll_age can be silenced like any other', async () => {
  const { fire, clock, received, store } = sending()
  await store.addSilence({ match: { alert: NO_POLL.name }, since: AT, until: AT + LONG, reason: 'known' })
  await fire(NO_POLL)
  await clock.advance(60)
  expect(received).toEqual([])
})

test('a suppressed alert does not suppress its siblings', async () => {
  const { fire, clock, received, store } = sending({ groupWait: 10 })
  await store.addSilence({ match: { alert: 'A' }, since: AT, until: AT + LONG, reason: 'known' })
  await fire(A)
  await fire(B)
  await clock.advance(60)
  expect(received).toEqual([[10, 'firing B']])
  await clock.advance(LONG)
  expect(received.slice(1).map(([, text]) => text)).toEqual(['firing A'])
})

test('a message names the alerts of its target and severity that fire silenced, until when and why', async () => {
  const { fire, clock, messages, store } = sending()
  await store.addSilence({ match: { alert: 'A' }, since: AT, until: AT + LONG, reason: 'known' })
  await fire(A)
  await fire({ name: 'A', target: 'staging' })
  await fire({ name: 'A of another severity', severity: 'info' })
  await fire(B)
  await clock.advance(1)
  expect(messages[0]).toMatchObject({
    target: 'production',
    alerts: [{ notification: { key: 'B' } }],
    silenced: [{ alert: 'A', until: AT + LONG, reason: 'known' }],
  })
})

test('a silence that is ended before its time ends at once', async () => {
  const { fire, clock, received, store } = sending()
  const { id } = await store.addSilence({ match: {}, since: AT, until: AT + LONG, reason: 'known' })
  await fire(A)
  await clock.advance(5)
  await store.expireSilence(id, AT + 1)
  await clock.advance(1)
  expect(received).toEqual([[6, 'firing A']])
})

test('the history of alerts has what suppressed a notification, and who was notified', async () => {
  const slack = sending()
  const { store, clock } = slack
  await store.addSilence({ match: { alert: 'A' }, since: AT, until: AT + 20, reason: 'deploy' })
  await slack.fire(A)
  await slack.fire(B)
  await clock.advance(10)
  await slack.resolve(B)
  await clock.advance(20)
  const { alerts } = await alertHistory(store, { from: 0, to: AT + 99 }, { configured: [], now: AT + 30 })
  expect(alerts.map(({ key, notified, suppressed }) => [key, notified.map(({ kind }) => kind), suppressed])).toEqual([
    ['A', ['firing'], [{ by: 'silence', at: isoTime(AT), until: isoTime(AT + 20), silence: 1, reason: 'deploy' }]],
    ['B', ['firing', 'resolved'], []],
  ])
  expect(alerts[0]!.notified).toEqual([{ receiver: 'slack', kind: 'firing', at: isoTime(AT + 20) }])
})

test.each([5, 0.1])(
  'the history of alerts has what suppressed an alert that nobody was notified of (%d s)',
  async (lasts) => {
    const slack = sending()
    await slack.store.addSilence({ match: {}, since: AT, until: AT + 600, reason: '' })
    await slack.clock.advance(0.5)
    await slack.fire(A)
    await slack.clock.advance(lasts)
    await slack.resolve(A)
    await slack.clock.advance(5)
    const { alerts } = await alertHistory(slack.store, { from: 0, to: AT + 99 }, { configured: [], now: AT + 30 })
    expect(alerts).toMatchObject([
      {
        outcome: 'resolved',
        notified: [],
        suppressed: [{ silence: 1 }],
      },
    ])
  },
)

test('an alert takes those that it inhibits into its message; what still fires when it ends is notified then', async () => {
  const { fire, resolve, clock, messages, received } = sending({ groupWait: 10 })
  const critical = { name: 'Critical', severity: 'critical' as const }
  await fire({ name: 'A' })
  await fire({ name: 'B' })
  await fire(critical)
  await clock.advance(11)
  expect(received.map(([, text]) => text)).toEqual(['firing Critical'])
  expect(messages[0]).toMatchObject({
    inhibited: [
      { alert: 'A', target: 'production', severity: 'warning' },
      { alert: 'B', target: 'production', severity: 'warning' },
    ],
  })
  await resolve({ name: 'B' })
  await clock.advance(5)
  await resolve(critical)
  await clock.advance(15)
  expect(received.slice(1).map(([, text]) => text)).toEqual(['resolved Critical', 'firing A'])
  expect(messages.slice(1)).toMatchObject([{ inhibited: [] }, { inhibited: [] }])
})

test('a due message leaves in its round, whatever is suppressed meanwhile', async () => {
  const { store, clock, fire, resolve, received } = sending({ groupWait: 10 })
  await store.addSilence({ match: { alert: 'Silenced' }, since: AT, until: AT + LONG, reason: 'deploy' })
  const of = (second: number) =>
    [ERRORS, 'Silenced'].map((name) => ({ name, severity: 'critical' as const, target: `target-${second}` }))
  for (let second = 0; second < 30; second += 1) {
    if (second === 10) await fire(A)
    for (const alert of of(second)) await fire(alert)
    if (second >= 3) for (const alert of of(second - 3)) await resolve(alert)
    await clock.advance(1)
  }
  expect(received).toEqual([[20, 'firing A']])
})

test('each round reads at most once what suppressed alerts, however many wait', async () => {
  const { store, clock, fire, resolve, received, steps } = sending({ groupWait: 10 })
  const alerts = Array.from({ length: 20 }, (_, i) => ({ name: 'A', target: `target-${i}` }))
  for (const alert of alerts) await fire(alert)
  await clock.advance(5)
  // They had fired before it, and so they wait for its end.
  await store.addSilence({ match: {}, since: AT + 5, until: AT + 60, reason: 'deploy' })
  await clock.advance(10)
  for (const alert of alerts) await resolve(alert)
  steps.length = 0
  await clock.advance(30)
  const times = (step: Step) => steps.filter((one) => one === step).length
  expect([times('silences'), times('rows'), received]).toEqual([30, 31, []])
})

test('failed requests of a short outage that is over are not announced; those that fail again are', async () => {
  const { clock, fire, resolve, see, received } = sending({ groupWait: 20 })
  const alert = { name: ERRORS }
  await fire(alert)
  see(alert, { evidence: { isQuiet: true } })
  await clock.advance(300)
  await resolve(alert)
  await clock.advance(60)
  expect(received).toEqual([])
  await fire(alert)
  see(alert, { evidence: { isQuiet: true } })
  await clock.advance(60)
  see(alert, { evidence: { isQuiet: false } })
  await clock.advance(22)
  see(alert, { evidence: { isQuiet: true } })
  await clock.advance(60)
  await resolve(alert)
  await clock.advance(30)
  expect(received.map(([, text]) => text)).toEqual([`firing ${ERRORS}`, `resolved ${ERRORS}`])
})
