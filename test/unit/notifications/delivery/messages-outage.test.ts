import { describe, expect, test } from 'vitest'
import type { AlertMessage } from '../../../../src/notifications/message.ts'
import { DeliveryError } from '../../../../src/network/delivery-error.ts'
import { AT, sending, type Sending } from '../../../kit/notifications/delivery/sending.ts'

const A = { name: 'A' }
const B = { name: 'B' }
const C = { name: 'C' }
const HOUR = 3600
const DAY = 24 * HOUR
const GROUP_WAIT = 10

/** A receiver that can be away: it answers 503 then. */
function outage() {
  const receiver = { isAway: false }
  const receive = () => (receiver.isAway ? new DeliveryError('it answered 503', { retryable: true }) : undefined)
  return { receiver, ...sending({ receive, groupWait: GROUP_WAIT }) }
}

/** Time passes, most of it without the ticks that would make the test slow. */
async function pass({ clock }: Sending, seconds: number): Promise<void> {
  const ticking = Math.min(seconds, 400)
  await clock.advance(ticking)
  clock.stepWall(seconds - ticking)
}

/** An alert fires and resolves so many times, half an hour each. */
async function comeAndGo(sent: Sending, alert: { name: string }, times: number): Promise<void> {
  for (let i = 0; i < times; i += 1) {
    await sent.fire(alert)
    await pass(sent, HOUR / 2)
    await sent.resolve(alert)
    await pass(sent, HOUR / 2)
  }
}

/** What was accepted since: the receiver fails each time while it is away. */
async function afterwards({ clock, receiver, received, deliveries }: ReturnType<typeof outage>): Promise<string[]> {
  receiver.isAway = false
  const before = deliveries.length
  await clock.advance(400)
  const accepted = deliveries.slice(before)
  expect(accepted.every(({ outcome }) => outcome === 'sent')).toBe(true)
  return received.slice(received.length - accepted.length).map(([, text]) => text)
}

/** The last message that was delivered. */
function lastOf({ messages }: Sending): AlertMessage {
  const message = messages.at(-1)
  if (message?.kind !== 'alerts') throw new Error('no alerts')
  return message
}

describe('a receiver that was away for a day is notified', () => {
  test('once of what still fires, with the value of now and its start', async () => {
    const sent = outage()
    sent.receiver.isAway = true
    await sent.fire(A, { value: 0.4, calls: 40 })
    await pass(sent, DAY)
    sent.see(A, { value: 0.7, peak: 0.9, calls: 70 })
    expect(await afterwards(sent)).toEqual(['firing A'])
    expect(lastOf(sent).alerts[0]?.notification).toMatchObject({
      value: 0.7,
      peak: 0.9,
      calls: 70,
      at: AT,
      firingSince: AT,
    })
  })

  test('how often that flapped meanwhile', async () => {
    const sent = outage()
    sent.receiver.isAway = true
    await comeAndGo(sent, A, 7)
    await sent.fire(A)
    await pass(sent, HOUR)
    expect(await afterwards(sent)).toEqual(['firing A +7'])
    expect(lastOf(sent).alerts[0]?.notification.firingSince).toBe(AT + 7 * HOUR)
  })

  test('of no reminder that it missed', async () => {
    const sent = outage()
    sent.receiver.isAway = true
    await sent.fire(A)
    await pass(sent, 20 * HOUR)
    expect(await afterwards(sent)).toEqual(['firing A'])
  })

  test('once of the end of a notified alert, and when that was', async () => {
    const sent = outage()
    await sent.fire(A)
    await sent.clock.advance(60)
    sent.receiver.isAway = true
    await pass(sent, HOUR)
    await sent.resolve(A, { value: 0.1, peak: 0.8 })
    await pass(sent, DAY)
    expect(await afterwards(sent)).toEqual(['resolved A'])
    expect(lastOf(sent).alerts[0]?.notification).toMatchObject({
      value: 0.1,
      peak: 0.8,
      firingSince: AT,
      at: AT + HOUR + 60,
    })
  })

  test('of the end of a notified alert, also if that flapped', async () => {
    const sent = outage()
    await sent.fire(A)
    await sent.clock.advance(60)
    sent.receiver.isAway = true
    await sent.resolve(A)
    await comeAndGo(sent, A, 3)
    expect(await afterwards(sent)).toEqual(['resolved A +3'])
  })

  test('of nothing where a notified alert resolved meanwhile and fires again, and of its end', async () => {
    const sent = outage()
    await sent.fire(A)
    await sent.clock.advance(60)
    sent.receiver.isAway = true
    await sent.resolve(A)
    await pass(sent, HOUR)
    await sent.fire(A)
    await pass(sent, HOUR)
    expect(await afterwards(sent)).toEqual([])
    await sent.resolve(A)
    expect(await afterwards(sent)).toEqual(['resolved A +1'])
  })

  test('in one line of what fired and resolved meanwhile, instead of a storm', async () => {
    const sent = outage()
    sent.receiver.isAway = true
    await comeAndGo(sent, A, 12)
    await sent.fire(B)
    await pass(sent, HOUR)
    await sent.resolve(B, { peak: 0.9 })
    await sent.fire(C)
    await pass(sent, HOUR)
    expect(await afterwards(sent)).toEqual(['firing C, flapped A ×12, flapped B ×1'])
    expect(lastOf(sent).flapped[1]).toMatchObject({
      notification: { kind: 'firing', at: AT + 12 * HOUR },
      peak: 0.9,
      endedAt: AT + 13 * HOUR,
    })
  })

  test('of nothing that came and went within the group wait', async () => {
    const sent = outage()
    sent.receiver.isAway = true
    await sent.fire(A)
    await sent.clock.advance(GROUP_WAIT - 1)
    await sent.resolve(A)
    await pass(sent, DAY)
    expect(await afterwards(sent)).toEqual([])
  })

  test('of each target and severity in a message of its own, the most urgent first', async () => {
    const sent = outage()
    sent.receiver.isAway = true
    await sent.fire({ name: 'Elsewhere', target: 'staging' })
    await pass(sent, HOUR)
    // Of other calls, so that it does not inhibit A.
    await sent.fire({ name: 'Critical', severity: 'critical' }, { labels: { type: 'video' } })
    await sent.fire(A)
    await sent.fire({ name: 'Later', target: 'staging' })
    await pass(sent, DAY)
    const [first, ...others] = await afterwards(sent)
    expect([first, others.toSorted()]).toEqual(['firing Critical', ['firing A', 'firing Elsewhere, firing Later']])
  })
})

test('the end of an alert that was notified while the receiver was away for a moment is still notified', async () => {
  const sent = outage()
  sent.receiver.isAway = true
  await sent.fire(A)
  await sent.clock.advance(GROUP_WAIT + 1)
  expect(await afterwards(sent)).toEqual(['firing A'])
  await sent.resolve(A)
  expect(await afterwards(sent)).toEqual(['resolved A'])
})

test('an end that happens while its firing is being delivered is notified after it', async () => {
  const { promise, resolve: accept } = Promise.withResolvers<void>()
  const sent = sending({ receive: (_message, attempt) => (attempt === 1 ? promise : undefined) })
  await sent.fire(A)
  await sent.clock.advance(1)
  await sent.resolve(A)
  await sent.clock.advance(1)
  accept()
  await sent.clock.advance(2)
  expect(sent.received.map(([, text]) => text)).toEqual(['firing A', 'resolved A'])
})
