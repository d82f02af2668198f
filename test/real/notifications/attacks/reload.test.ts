import { describe, expect, test } from 'vitest'
import {
  notifyingDaemon,
  RULES,
  type NotifyingDaemon,
  type Reloaded,
} from '../../../kit/notifications/notifying-daemon.ts'

const NOTIFY = { group_wait: '20s', group_interval: '2m' }
/** All that a person sees in the channel of a bot, in order. */
const seenIn = (d: NotifyingDaemon) =>
  d
    .channel('bot')
    .flatMap(({ at, text, edits, replies }) => [{ at, text }, ...edits, ...replies])
    .toSorted((a, b) => a.at - b.at)
const OVER = /✅|⚪|nothing of this fires/

/** One target fires and is told, and then the configuration is another one. */
async function reloaded(change: Reloaded) {
  const d = await notifyingDaemon({ receivers: ['pager'], bots: ['bot'], notify: NOTIFY })
  await d.fire(0, 'High')
  await d.advance(60)
  await d.reload(change)
  return d
}

const CHANGES: [string, Reloaded][] = [
  [
    'a new route that sends it to the same receivers',
    { notify: { ...NOTIFY, routes: [{ match: { alert: 'High' }, notify: ['bot', 'pager'] }] } },
  ],
  ['another group_by', { notify: { ...NOTIFY, group_by: ['target'] } }],
  ['a severity that rises', { severity: { High: 'critical', VeryHigh: 'critical' } }],
  ['a severity that falls', { severity: { High: 'info' } }],
]

describe.each(CHANGES)('after a reload with %s, while an alert fires', (what, change) => {
  test('the bot does not say that it is over', async () => {
    const d = await reloaded(change)
    await d.advance(600)
    expect(seenIn(d).filter(({ text }) => OVER.test(text))).toEqual([])
  })

  test('its end is told once, and at once', async () => {
    const d = await reloaded(change)
    await d.advance(300)
    await d.end(0, 'High')
    await d.advance(130)
    const ends = d.log.filter((one) => one.ends.includes('t0/High') && !one.isEdit)
    expect(ends.map(({ receiver }) => receiver).toSorted(), d.lines('pager')).toEqual(['bot', 'pager'])
    expect(Math.max(...ends.map(({ at }) => at))).toBeLessThanOrEqual(363)
  })

  test('a further target is told in the next interval, and nothing is told twice as new', async () => {
    const d = await reloaded(change)
    await d.advance(10)
    await d.fire(1, 'High')
    await d.advance(130)
    expect(d.knownTo('pager'), d.lines('pager')).toEqual(['t0/High', 't1/High'])
    expect(d.knownTo('bot')).toEqual(['t0/High', 't1/High'])
    expect(d.said('pager').length, d.lines('pager')).toBeLessThanOrEqual(3)
    // By target, they are two incidents.
    expect(d.channel('bot').length).toBe(what === 'another group_by' ? 2 : 1)
  })
})

test('an alert whose rule becomes more severe is told at once', async () => {
  const d = await reloaded({ severity: { High: 'critical', VeryHigh: 'critical' } })
  await d.advance(5)
  expect(
    d
      .said('pager')
      .slice(1)
      .map(({ title }) => title),
    d.lines('pager'),
  ).toEqual([expect.stringContaining('🔴')])
})

test('a receiver to which an alert is no longer sent is told so, and not that it is over', async () => {
  const d = await reloaded({ notify: { ...NOTIFY, routes: [{ notify: ['bot'] }] } })
  await d.advance(600)
  const [, ...later] = d.said('pager')
  expect(
    later.map(({ at }) => at),
    d.lines('pager'),
  ).toEqual([expect.closeTo(61, -1)])
  expect(later.filter(({ title }) => OVER.test(title))).toEqual([])
})

test('an alert that ends in the second of a reload that sends it elsewhere is told to have ended', async () => {
  const d = await notifyingDaemon({ receivers: ['pager', 'other'], notify: NOTIFY })
  await d.fire(0, 'High')
  await d.advance(60)
  await d.end(0, 'High')
  await d.reload({ notify: { ...NOTIFY, routes: [{ notify: ['other'] }] } })
  await d.advance(10)
  expect(d.knownTo('pager'), d.lines('pager')).toEqual([])
})

test('a rule that is renamed while it fires is an end and a new alert, once each', async () => {
  const d = await notifyingDaemon({ receivers: ['pager'], bots: ['bot'], notify: NOTIFY })
  await d.fire(0, 'Few')
  await d.advance(60)
  await d.reload({ rules: RULES.map((rule) => (rule.name === 'Few' ? { ...rule, name: 'Fewer' } : rule)) })
  await d.fire(0, 'Fewer')
  await d.advance(300)
  expect(d.knownTo('pager'), d.lines('pager')).toEqual(['t0/Fewer'])
  const told = d.said('pager').flatMap(({ begins, ends }) => [...begins, ...ends.map((name) => `${name} over`)])
  expect(told.toSorted(), d.lines('pager')).toEqual(['t0/Few', 't0/Few over', 't0/Fewer'])
  expect(d.knownTo('bot')).toEqual(['t0/Fewer'])
})

describe('a receiver', () => {
  test('that is removed and added again hears nothing of before', async () => {
    const d = await notifyingDaemon({ receivers: ['pager', 'other'], notify: NOTIFY })
    await d.advance(50)
    await d.reload({ receivers: ['other'] })
    await d.fire(0, 'Few')
    await d.advance(60)
    await d.end(0, 'Few')
    await d.advance(180)
    await d.reload({ receivers: ['pager', 'other'] })
    await d.advance(300)
    expect(d.said('pager'), d.lines('pager')).toEqual([])
    expect(d.said('other'), d.lines('other')).toHaveLength(2)
  })

  test.each([
    ['that is removed and added again', { receivers: ['other'] }, { receivers: ['pager', 'other'] }, 'pager'],
    ['that is renamed', {}, { receivers: ['renamed', 'other'] }, 'renamed'],
    ['that is added', {}, { receivers: ['pager', 'other', 'third'] }, 'third'],
  ])('%s gets what fires as its beginning, and its end', async (_what, first, second, name) => {
    const d = await notifyingDaemon({ receivers: ['pager', 'other'], notify: NOTIFY })
    await d.fire(0, 'Few')
    await d.advance(60)
    await d.reload(first)
    await d.advance(60)
    await d.reload(second)
    const at = d.clock.monotonic()
    await d.advance(200)
    const told = d.said(name).filter((one) => one.at >= at)
    expect(
      told.map((one) => one.kind),
      d.lines(name),
    ).toEqual(['begins'])
    expect(told[0]!.at - at).toBeLessThanOrEqual(130)
    await d.end(0, 'Few')
    await d.advance(5)
    expect(d.said(name).at(-1)?.ends, d.lines(name)).toEqual(['t0/Few'])
  })
})
