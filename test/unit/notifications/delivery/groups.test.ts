import { expect, test } from 'vitest'
import type { AlertMessage, Message } from '../../../../src/notifications/message.ts'
import { AT, sending, type Sending } from '../../../kit/notifications/delivery/sending.ts'

const GROUPED = { groupBy: ['alert', 'severity'], groupWait: 20, groupInterval: 300, targets: 300 } as const
const high = (n: number) => ({ name: 'HighFailureRate', target: `target ${n}` })
const alertsOf = (messages: readonly Message[]) => messages.filter((message): message is AlertMessage => message.kind === 'alerts') // oxfmt-ignore
const onTargets = ({ alerts, unchanged }: AlertMessage) =>
  [...alerts, ...unchanged].map(({ notification }) => notification.target).toSorted()

test('growth is told after a day of reminders', async () => {
  const run = sending(GROUPED)
  await run.fire(high(0))
  await run.clock.advance(24 * 3600 + 30)
  const before = run.messages.length
  const begun = run.clock.monotonic()
  for (let n = 1; n < 60; n++) await run.fire(high(n))
  await run.clock.advance(25)
  expect(run.messages.length).toBe(before + 1)
  expect(run.received.at(-1)![0] - begun).toBeLessThanOrEqual(25)
})

test('a muted alert is not among those that were notified', async () => {
  const mute = { start: '0 8 * * *', duration: 3600, timezone: 'UTC', match: { target: 'target 0' } }
  const run = sending({ ...GROUPED, mutes: [mute] })
  await run.fire(high(0))
  await run.fire(high(1))
  await run.clock.advance(30)
  expect(alertsOf(run.messages).map(onTargets)).toEqual([['target 1']])
})

/** Alerts as another daemon shows them: they come later than their changes. */
async function shownLater(run: Sending, change: () => Promise<unknown>, seconds: number): Promise<void> {
  const before = new Map(run.live)
  await change()
  const after = new Map(run.live)
  run.live.clear()
  for (const [key, live] of before) run.live.set(key, live)
  await run.clock.advance(seconds)
  run.live.clear()
  for (const [key, live] of after) run.live.set(key, live)
}

test('an alert counts from its change on, whenever the daemon of its target shows it', async () => {
  const run = sending({ ...GROUPED, groupWait: 0 })
  await shownLater(run, () => run.fire(high(0)), 3)
  await run.clock.advance(400)
  await shownLater(run, () => run.resolve(high(0)), 3)
  const [begun, ended] = alertsOf(run.messages)
  expect(begun!.incident?.targets.firing).toBe(1)
  expect(ended!.incident).toBeUndefined()
})

test('an alert that flaps every minute is at most thirty messages an hour', async () => {
  const run = sending(GROUPED)
  for (let minutes = 0; minutes < 60; minutes++) {
    await run.fire(high(0))
    await run.clock.advance(30)
    await run.resolve(high(0))
    await run.clock.advance(30)
  }
  expect(run.messages.length).toBeLessThanOrEqual(30)
  expect(run.messages.length).toBeGreaterThan(4)
})

test('what another daemon has stamped twenty seconds too early waits all the same', async () => {
  const run = sending(GROUPED)
  await run.clock.advance(60)
  await run.fire(high(0), { at: AT + 40, firingSince: AT + 40 })
  await run.clock.advance(17)
  expect(run.messages).toEqual([])
  await run.clock.advance(5)
  expect(run.messages).toHaveLength(1)
})
