import { describe, expect, test } from 'vitest'
import { notifyingDaemon, RULES } from '../../../kit/notifications/notifying-daemon.ts'

const NOTIFY = { group_wait: '20s', group_interval: '2m' }

test('what was told to have begun and ended is not counted again by the end of the alert that was told before it', async () => {
  const d = await notifyingDaemon({ receivers: ['pager'], notify: NOTIFY })
  await d.fire(0, 'Few')
  for (let i = 0; i < 2; i++) {
    await d.advance(60)
    // It fires again before anybody looks.
    await d.end(0, 'Few')
    await d.fire(0, 'Few')
  }
  await d.advance(5)
  await d.silence({ alert: 'Few' }, 7200)
  await d.advance(130)
  await d.end(0, 'Few')
  await d.advance(10)
  const told = d.log.flatMap(({ message }) => (message.kind === 'alerts' ? [message] : []))
  const timesIn = ({ about, alerts, flapped }: (typeof told)[number]) => [
    about,
    flapped.reduce((sum, { times }) => sum + times, 0) + alerts.reduce((sum, { flaps }) => sum + flaps, 0),
  ]
  expect(told.map(timesIn), d.lines('pager')).toEqual([
    ['begins', 0],
    ['was', 1],
    ['ended', 1],
  ])
})

describe('an alert that was told and is then silenced', () => {
  test('for hours is not told again, and its end is told once', async () => {
    const d = await notifyingDaemon({ receivers: ['pager'], bots: ['bot'], notify: NOTIFY })
    await d.fire(0, 'Few')
    await d.advance(60)
    await d.silence({ alert: 'Few' }, 7200)
    await d.advance(5400)
    expect(d.said('pager'), d.lines('pager')).toHaveLength(1)
    await d.end(0, 'Few')
    await d.advance(2400)
    expect(
      d.said('pager').map(({ kind }) => kind),
      d.lines('pager'),
    ).toEqual(['begins', 'ended'])
    expect(d.knownTo('bot')).toEqual([])
  })

  test('ends for the channel of a bot within a minute', async () => {
    const d = await notifyingDaemon({ bots: ['bot'], notify: NOTIFY })
    await d.fire(0, 'Few')
    await d.advance(60)
    await d.silence({ alert: 'Few' }, 7200)
    await d.end(0, 'Few')
    await d.advance(60)
    expect(d.channel('bot')[0]!.edits.at(-1)?.text).toMatch(/✅|fires any more/)
  })

  test('counts as one that fires while another one of its group does', async () => {
    const d = await notifyingDaemon({ receivers: ['pager'], notify: NOTIFY })
    await d.fire(0, 'Few')
    await d.fire(1, 'Few')
    await d.advance(60)
    await d.silence({ target: 't0' }, 7200)
    await d.advance(200)
    expect(d.said('pager'), d.lines('pager')).toHaveLength(1)
    await d.end(1, 'Few')
    await d.advance(200)
    expect(
      d.said('pager').map(({ kind }) => kind),
      d.lines('pager'),
    ).toEqual(['begins', 'changed'])
    expect(d.knownTo('pager')).toEqual(['t0/Few'])
  })

  test('is told once if it still fires when the silence is over', async () => {
    const d = await notifyingDaemon({ receivers: ['pager'], notify: NOTIFY })
    await d.silence({ alert: 'Few' }, 300)
    await d.fire(0, 'Few')
    await d.advance(299)
    expect(d.said('pager')).toEqual([])
    await d.advance(25)
    expect(
      d.said('pager').map(({ kind }) => kind),
      d.lines('pager'),
    ).toEqual(['begins'])
  })
})

describe('a symptom of an outage', () => {
  test('that ends four seconds after it is not told', async () => {
    const d = await notifyingDaemon({ receivers: ['pager'], notify: NOTIFY })
    await d.fire(0, 'Outage')
    await d.advance(1)
    await d.fire(0, 'Few')
    await d.advance(200)
    await d.end(0, 'Outage')
    await d.advance(4)
    await d.end(0, 'Few')
    await d.advance(200)
    const told = d.said('pager').flatMap(({ begins, ends, was }) => [...begins, ...ends, ...was])
    expect(told, d.lines('pager')).toEqual(['t0/Outage', 't0/Outage'])
  })

  test('of which nothing is new is not named at its end: its own end is not told either', async () => {
    const errors = { name: 'Errors', signal: 'request_errors', above: 0.25, severity: 'warning' } as const
    const d = await notifyingDaemon({ receivers: ['pager'], notify: NOTIFY, rules: [...RULES, errors] })
    await d.fire(0, 'Outage')
    await d.fire(0, 'Errors')
    await d.advance(200)
    await d.end(0, 'Outage')
    d.see(0, 'Errors', { evidence: { isQuiet: true } })
    await d.advance(400)
    await d.end(0, 'Errors')
    await d.advance(400)
    expect(d.lines('pager')).not.toContain('Errors')
    expect(d.said('pager').at(-1)?.title).toMatch(/^✅ resolved: Outage/)
  })

  test('that the receiver knows is named at its end, though it is silenced by then: as recovering within its threshold', async () => {
    const titleWith = async (value: number) => {
      const d = await notifyingDaemon({ receivers: ['pager'], notify: NOTIFY })
      await d.fire(0, 'High')
      await d.advance(60)
      await d.fire(0, 'Outage')
      await d.advance(200)
      d.see(0, 'High', { value })
      await d.silence({ alert: 'High' }, 3600)
      await d.end(0, 'Outage')
      await d.advance(5)
      return d.said('pager').at(-1)?.title
    }
    expect(await titleWith(0.6)).toMatch(/^🟠 High still fires; resolved: Outage/)
    expect(await titleWith(0.25)).toMatch(/^🟡 High is recovering; resolved: Outage/)
  })

  test('that lasts is told once it has waited after it', async () => {
    const d = await notifyingDaemon({ receivers: ['pager'], notify: NOTIFY })
    await d.fire(0, 'Outage')
    await d.fire(0, 'Few')
    await d.advance(200)
    await d.end(0, 'Outage')
    await d.advance(40)
    const symptom = d.said('pager').filter(({ begins }) => begins.includes('t0/Few'))
    expect(
      symptom.map(({ at }) => at),
      d.lines('pager'),
    ).toEqual([expect.closeTo(221, -1)])
  })

  test('that pends and never begins is told in time', async () => {
    const d = await notifyingDaemon({ receivers: ['pager'], notify: NOTIFY })
    d.pend(0, 'Outage')
    await d.fire(0, 'Few')
    await d.advance(40)
    expect(
      d.said('pager').map(({ at }) => at),
      d.lines('pager'),
    ).toEqual([20])
  })
})

describe('a less severe alert', () => {
  test('is told to a receiver to which the more severe one is not sent', async () => {
    const routes = [
      { match: { severity: 'critical' }, notify: ['pager'] },
      { match: { severity: 'warning' }, notify: ['chat'] },
    ]
    const d = await notifyingDaemon({ receivers: ['pager', 'chat'], notify: { ...NOTIFY, routes } })
    await d.fire(0, 'High')
    await d.fire(0, 'VeryHigh')
    await d.advance(40)
    expect(d.knownTo('pager')).toEqual(['t0/VeryHigh'])
    expect(d.knownTo('chat')).toEqual(['t0/High'])
  })

  test('that still fires when the more severe one ends is told, with no word of an end of all', async () => {
    const d = await notifyingDaemon({ receivers: ['pager'], notify: NOTIFY })
    await d.fire(0, 'High')
    await d.fire(0, 'VeryHigh')
    await d.advance(40)
    await d.end(0, 'VeryHigh')
    await d.advance(150)
    expect(d.knownTo('pager'), d.lines('pager')).toEqual(['t0/High'])
    expect(
      d.said('pager').filter(({ title }) => title.includes('✅')),
      d.lines('pager'),
    ).toEqual([])
  })
})

test('a mute that begins and ends while an alert fires neither ends nor repeats it', async () => {
  const mutes = [{ start: '17 8 * * *', duration: '5m', match: { alert: 'Few' } }]
  const d = await notifyingDaemon({ receivers: ['pager'], notify: { ...NOTIFY, mutes } })
  await d.fire(0, 'Few')
  await d.advance(900)
  expect(
    d.said('pager').map(({ kind }) => kind),
    d.lines('pager'),
  ).toEqual(['begins'])
  await d.end(0, 'Few')
  await d.advance(5)
  expect(d.knownTo('pager')).toEqual([])
})
