import { describe, expect, test } from 'vitest'
import type { AlertMessage } from '../../../../src/notifications/message.ts'
import { slackMessage } from '../../../../src/notifications/receivers/slack/slack-message.ts'
import type { Told } from '../../../kit/notifications/daemon/told.ts'
import { notifyingDaemon, type NotifyingDaemon } from '../../../kit/notifications/notifying-daemon.ts'

const NOTIFY = { group_wait: '20s', group_interval: '5m' }
const SHORT = { group_wait: '20s', group_interval: '2m' }

/** The targets from one number to another fire or end, evenly over some seconds. */
async function spread(
  seconds: number,
  [from, to]: [number, number],
  change: (target: number) => Promise<void>,
  d: NotifyingDaemon,
) {
  for (let second = 0; second < seconds; second += 1) {
    const at = (part: number) => from + Math.floor(((to - from) * part) / seconds)
    for (let target = at(second); target < at(second + 1); target += 1) await change(target)
    await d.advance(1)
  }
}

/** Another one of these is no growth. */
async function threeFire() {
  const d = await notifyingDaemon({ receivers: ['pager'], targets: 30, notify: SHORT })
  for (const target of [0, 1, 2]) await d.fire(target, 'Few')
  return d
}

const textOf = ({ message, at }: Told, d: NotifyingDaemon) =>
  JSON.stringify(slackMessage(message, { now: d.clock.wall() - d.clock.monotonic() + at }))

describe('one target that flaps', () => {
  test('does not hide the outage of thirty others', async () => {
    const d = await notifyingDaemon({ receivers: ['pager'], targets: 300, notify: SHORT })
    for (let time = 0; time < 3; time += 1) {
      await d.fire(0, 'High')
      await d.advance(40)
      await d.end(0, 'High')
      await d.advance(10)
    }
    for (let target = 1; target <= 30; target += 1) await d.fire(target, 'High')
    await d.advance(25)
    expect(d.knownTo('pager'), d.lines('pager')).toHaveLength(30)
  })

  test('for 34 of each 50 seconds is told, and by two messages an interval at most', async () => {
    const d = await notifyingDaemon({ receivers: ['pager'], notify: SHORT })
    for (let time = 0; time < 24; time += 1) {
      await d.fire(0, 'Few')
      await d.advance(34)
      await d.end(0, 'Few')
      await d.advance(16)
    }
    await d.advance(130)
    expect(d.knownTo('pager')).toEqual([])
    expect(d.said('pager').length, d.lines('pager')).toBeGreaterThan(1)
    expect(d.said('pager').length, d.lines('pager')).toBeLessThanOrEqual(20)
  })

  test('after another, each for 38 s, is told by two messages an interval at most', async () => {
    const d = await notifyingDaemon({ receivers: ['pager'], targets: 300, notify: SHORT })
    for (let target = 0; target < 15; target += 1) {
      await d.fire(target, 'Few')
      await d.advance(38)
      await d.end(target, 'Few')
      await d.advance(2)
    }
    await d.advance(130)
    expect(d.knownTo('pager')).toEqual([])
    expect(d.said('pager').length, d.lines('pager')).toBeLessThanOrEqual(13)
  })
})

describe('what a message says first', () => {
  test('is no ✅ while a critical alert of the same targets fires', async () => {
    const d = await notifyingDaemon({ receivers: ['pager'], bots: ['bot'], notify: NOTIFY })
    for (const target of [0, 1]) {
      await d.fire(target, 'Few')
      await d.fire(target, 'VeryHigh')
    }
    await d.advance(60)
    for (const target of [0, 1]) await d.end(target, 'Few')
    await d.advance(10)
    const [last] = d.said('pager').slice(-1)
    expect(last!.ends, d.lines('pager')).toHaveLength(2)
    expect(last!.title).not.toContain('✅')
  })

  test('is not 🔴 if all that fires is back within its threshold', async () => {
    const d = await notifyingDaemon({ receivers: ['pager'], bots: ['bot'], targets: 30, notify: NOTIFY })
    for (let target = 0; target < 10; target += 1) await d.fire(target, 'VeryHigh')
    await d.advance(60)
    for (let target = 0; target < 10; target += 1) d.see(target, 'VeryHigh', { state: 'recovering', value: 0.1 })
    await d.end(0, 'VeryHigh')
    await d.advance(400)
    const later = [
      ...d
        .said('pager')
        .slice(1)
        .map(({ title }) => title),
      d.channel('bot')[0]!.edits.at(-1)!.text,
    ]
    expect(
      later.filter((title) => title.includes('🔴')),
      later.join('\n'),
    ).toEqual([])
  })

  test('is the outage alone when an outage begins while an incident recovers', async () => {
    const d = await notifyingDaemon({ receivers: ['pager'], targets: 30, notify: SHORT })
    for (let target = 0; target < 10; target += 1) await d.fire(target, 'VeryHigh')
    await d.advance(132)
    for (let target = 0; target < 10; target += 1) d.see(target, 'VeryHigh', { state: 'recovering', value: 0.1 })
    for (let target = 0; target < 30; target += 1) d.pend(target, 'Outage')
    await d.advance(5)
    await d.end(9, 'VeryHigh')
    for (let target = 0; target < 29; target += 1) await d.fire(target, 'Outage', { pending: 300 })
    await d.advance(40)
    const critical = d.said('pager').slice(1)
    expect(
      critical.map(({ title }) => title).filter((title) => /🔴.*recover/i.test(title)),
      d.lines('pager'),
    ).toEqual([])
  })

  test('does not call what still breaches its threshold recovering', async () => {
    const d = await notifyingDaemon({ receivers: ['pager'], targets: 30, notify: SHORT })
    for (let target = 0; target < 10; target += 1) await d.fire(target, 'VeryHigh')
    await d.advance(140)
    for (let target = 0; target < 7; target += 1) d.see(target, 'VeryHigh', { state: 'recovering', value: 0.1 })
    await d.end(0, 'VeryHigh')
    await d.advance(130)
    const titles = d.said('pager').map(({ title }) => title)
    expect(
      titles.filter((title) => /🔴.*recover/i.test(title)),
      d.lines('pager'),
    ).toEqual([])
  })

  test('is not that it was delivered late, if it waited on purpose', async () => {
    const d = await notifyingDaemon({ receivers: ['pager'], notify: { ...NOTIFY, group_by: ['target'] } })
    await d.fire(0, 'Few')
    await d.advance(120)
    await d.fire(0, 'High')
    await d.advance(500)
    expect(d.said('pager'), d.lines('pager')).toHaveLength(2)
    const late = d.said('pager').map((one) => /delivered [^"]*? later/.exec(textOf(one, d))?.[0])
    expect(late).toEqual([undefined, undefined])
  })

  test('is that it was delivered late, if the receiver was down', async () => {
    const d = await notifyingDaemon({ receivers: ['pager'], notify: NOTIFY })
    d.answers('pager', 'down')
    await d.fire(0, 'Few')
    await d.advance(600)
    d.answers('pager', 'ok')
    await d.advance(310)
    expect(d.said('pager').map((one) => textOf(one, d))).toEqual([expect.stringMatching(/delivered .* later/)])
  })
})

describe('a storm on 300 targets in four minutes', () => {
  const begin = async (given: Parameters<typeof notifyingDaemon>[0]) => {
    const d = await notifyingDaemon({ targets: 300, notify: NOTIFY, ...given })
    await spread(240, [0, 300], (target) => d.fire(target, 'High'), d)
    await d.advance(460)
    await spread(240, [0, 300], (target) => d.end(target, 'High'), d)
    await d.advance(360)
    return d
  }

  test('is at most seven messages to its end, the first within the group wait', async () => {
    const d = await begin({ receivers: ['pager'] })
    expect(d.said('pager')[0]?.at).toBeLessThanOrEqual(22)
    expect(d.said('pager').length, d.lines('pager')).toBeLessThanOrEqual(7)
    expect(
      d.said('pager').some(({ fires }) => fires === 300),
      d.lines('pager'),
    ).toBe(true)
    expect(d.knownTo('pager')).toEqual([])
  })

  test('is one message of a bot, with its edits and a few replies', async () => {
    const d = await begin({ bots: ['bot'] })
    expect(d.channel('bot')).toHaveLength(1)
    expect(d.channel('bot')[0]!.replies.length).toBeLessThanOrEqual(7)
    expect(d.channel('bot')[0]!.edits.at(-1)!.text).toContain('✅')
  })
})

describe('an outage', () => {
  test.each([
    ['in fifteen seconds', 15],
    ['in forty seconds', 40],
    ['in two minutes', 120],
  ])('that reaches all of 300 targets %s is told of all', async (_what, seconds) => {
    const d = await notifyingDaemon({ receivers: ['pager'], targets: 300, notify: NOTIFY })
    for (let target = 0; target < 300; target += 1) d.pend(target, 'Outage')
    await spread(seconds, [0, 300], (target) => d.fire(target, 'Outage', { pending: 300 }), d)
    await d.advance(61 + 52 - Math.min(seconds, 52))
    const [first] = d.said('pager')
    expect(first?.at, d.lines('pager')).toBeLessThanOrEqual(53)
    if (seconds <= 40) expect(first?.fires, d.lines('pager')).toBe(300)
    expect(d.said('pager').at(-1)?.fires, d.lines('pager')).toBe(300)
    expect(d.said('pager').length, d.lines('pager')).toBeLessThanOrEqual(3)
  })

  test('that reaches 215 of 300 targets first is told of all', async () => {
    const d = await notifyingDaemon({ receivers: ['pager'], targets: 300, notify: NOTIFY })
    for (let target = 0; target < 300; target += 1) d.pend(target, 'Outage')
    for (let target = 0; target < 215; target += 1) await d.fire(target, 'Outage', { pending: 300 })
    await d.advance(25)
    for (let target = 215; target < 300; target += 1) await d.fire(target, 'Outage', { pending: 300 })
    await d.advance(95)
    expect(
      d
        .said('pager')
        .map(({ fires }) => fires)
        .at(-1),
      d.lines('pager'),
    ).toBe(300)
  })
})

describe('waiting', () => {
  test('does not begin anew with a restart each 15 s', async () => {
    const d = await notifyingDaemon({ receivers: ['pager'], notify: SHORT })
    await d.fire(0, 'Few')
    for (let time = 0; time < 4; time += 1) {
      await d.advance(15)
      d.crash()
    }
    await d.advance(1)
    expect(d.said('pager').map(({ at }) => at)).toEqual([expect.closeTo(21, -1)])
  })

  test('for the interval does not begin anew with a restart each 100 s', async () => {
    const d = await threeFire()
    await d.advance(30)
    await d.fire(3, 'Few')
    for (let time = 0; time < 4; time += 1) {
      await d.advance(70 + 30 * Math.min(time, 1))
      d.crash()
    }
    await d.advance(10)
    expect(
      d.said('pager').map(({ at }) => at),
      d.lines('pager'),
    ).toEqual([20, expect.closeTo(141, -1)])
  })

  test.each([3600, -3600])('is by a clock that nobody sets (%i s)', async (step) => {
    const d = await threeFire()
    await d.advance(10)
    d.stepWall(step)
    await d.advance(20)
    expect(
      d.said('pager').map(({ at }) => at),
      d.lines('pager'),
    ).toEqual([20])
    await d.fire(3, 'Few')
    d.stepWall(-step)
    await d.advance(150)
    expect(
      d.said('pager').map(({ at }) => at),
      d.lines('pager'),
    ).toEqual([20, expect.closeTo(141, -1)])
  })
})

test('a message is of now: no alert in it ended before it was sent', async () => {
  const d = await notifyingDaemon({ receivers: ['pager'], targets: 30, notify: SHORT })
  for (let target = 0; target < 10; target += 1) await d.fire(target, 'High')
  await d.advance(60)
  for (let target = 0; target < 5; target += 1) await d.end(target, 'High')
  await d.advance(130)
  const [, second] = d.said('pager')
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only alerts were sent
  expect((second!.message as AlertMessage).incident?.targets.firing, d.lines('pager')).toBe(5)
  expect(second!.ends).toHaveLength(5)
})
