import { merge, Subject } from 'rxjs'
import { describe, expect, test } from 'vitest'
import { newDraft } from '../../../src/ledger/delta/delta-draft.ts'
import { computeDelta } from '../../../src/ledger/delta/compute-delta.ts'
import { deliver } from '../../../src/notifications/delivery/deliver.ts'
import { readNotified } from '../../../src/notifications/delivery/notified.ts'
import { newPauses } from '../../../src/notifications/delivery/pauses.ts'
import { reportRound } from '../../../src/notifications/delivery/reports.ts'
import type { SetUpTarget } from '../../../src/notifications/due-report.ts'
import { bulletinOf } from '../../../src/notifications/text/bulletin.ts'
import type { Message, ReportMessage } from '../../../src/notifications/message.ts'
import type { NotifyConfig } from '../../../src/notifications/notify-section.ts'
import { reportMaker } from '../../../src/notifications/report-maker.ts'
import { DeliveryError } from '../../../src/network/delivery-error.ts'
import { openSqliteStore } from '../../../src/store/open-sqlite.ts'
import { StoreError } from '../../../src/store/store-error.ts'
import { virtualClock } from '../../kit/virtual-clock.ts'
import { RATIO } from '../../kit/alerts/sample-rules.ts'
import { completePoll, CREATED, seen } from '../../kit/ledger/seen.ts'
import { commitOf, DAY } from '../../kit/store/place.ts'

const utc = (text: string) => Date.parse(text) / 1000
const HOUR = 3600

/** A call finished in the middle of each hour, with four participant minutes. Every fourth was rejected. */
function hourly(from: number, to: number) {
  return Array.from({ length: Math.round((to - from) / HOUR) }, (_, hour) => {
    const endedAt = from + hour * HOUR + 1800
    const participantMinutes = { audio: 4, video: 0, total: undefined }
    return seen(`${endedAt}`, hour % 4 === 3 ? 'rejected' : 'ended', { endedAt, participantMinutes })
  })
}

type Given = {
  reports?: Partial<NotifyConfig['reports'][number]>[]
  receivers?: readonly string[]
  /** Days of calls before. */
  past?: number
  created?: Record<string, string>
  /** When the receivers were added; default: long ago. */
  added?: string
}

const RULES = [{ ...RATIO, signal: { ...RATIO.signal, aboveUsual: 0.15 } }]

/** Daily reports at nine in the morning in Berlin, or others, of targets with a call an hour. */
async function reporting(now: string, given: Given = {}) {
  const {
    reports: asked = [{}],
    receivers = ['slack'],
    created = { production: '2026-01-01T00:00:00Z' },
    past = 9,
  } = given
  const reports = asked.map((one) => {
    return { every: 'day' as const, at: '09:00', timezone: 'Europe/Berlin', ...one }
  })
  const clock = virtualClock(utc(now))
  const draining$ = new Subject<void>()
  const store = openSqliteStore({ path: ':memory:' })
  const storing = { isBusy: false, reads: 0 }
  const failing = { isDown: false }
  /** The targets as their daemon knows them. Their past is not reported, unless they have one. */
  const targets = new Map<string, SetUpTarget>()
  const midnight = Math.floor(utc(now) / DAY) * DAY
  const calls = hourly(midnight - past * DAY, midnight + 3 * DAY)
  const add = async (name: string, setUp: Partial<SetUpTarget> = {}) => {
    const created = setUp.created ?? clock.wall()
    targets.set(name, { name, created, past: undefined, isSwept: true, serviceNow: created, ...setUp })
    const { ledger } = await store.openTarget({ name, fingerprint: '' }, created, DAY)
    const known = setUp.past
      ? ({ lookback: 7 * DAY, baseline: 'count' } as const)
      : ({ lookback: DAY, baseline: 'skip' } as const)
    const options = { ...known, details: 'missing' } as const
    const observed = computeDelta(ledger, completePoll(midnight + 3 * DAY - CREATED, ...calls), options)
    await store.commit(name, commitOf(observed!))
  }
  for (const [name, at] of Object.entries(created)) await add(name, { created: utc(at), serviceNow: clock.wall() })
  const received = new Map<string, ReportMessage[]>(receivers.map((name) => [name, []]))
  const all = { receivers: [...receivers] }

  /** A process that makes the reports and sends them. */
  const start = () => {
    const rows: typeof store.rows = (...query) => {
      storing.reads += 1
      if (storing.isBusy) return Promise.reject(new StoreError('unavailable', 'the store is busy'))
      return store.rows(...query)
    }
    const { summedCalls } = store
    const make = reportMaker({
      clock,
      store: { rows, summedCalls },
      targets: () => [...targets.keys()],
      rules: () => RULES,
    })
    const told = readNotified(all.receivers, { clock, store })
    const rounds = all.receivers.map((name) => {
      const send = async (message: Message) => {
        if (failing.isDown) throw new DeliveryError('down', { retryable: true })
        if (message.kind === 'report') received.set(name, [...(received.get(name) ?? []), message])
      }
      const notified = async () => (await told).get(name)!
      const options = { clock, reports, targets: () => [...targets.values()], make, notified }
      return deliver([reportRound({ name, send }, newPauses(clock), options)], { clock, draining$ })
    })
    return merge(...rounds).subscribe()
  }
  const before = await readNotified(receivers, { clock: virtualClock(utc(given.added ?? '2026-01-01')), store })
  await Promise.all(before.values().map((one) => one.flush()))
  let process = start()
  const sent = async (receiver = 'slack') => {
    // It is made in one second, and sent in the next one at the latest.
    await clock.advance(2)
    return received.get(receiver) ?? []
  }
  /** Lets time pass, which no timer notices but the last seconds of it. */
  const later = async (seconds: number) => {
    clock.stepWall(seconds - 5)
    await clock.advance(5)
  }
  return {
    clock,
    later,
    draining$,
    storing,
    failing,
    targets,
    add,
    sent,
    /** A poll of the target succeeded then; if that was long after the one before, not at once. */
    poll: async (at: string, after?: string) => {
      const { ledger } = await store.openTarget({ name: 'production', fingerprint: '' }, 0, DAY)
      const { delta } = newDraft(ledger.sync)
      const [ended, began] = [utc(at), utc(after ?? at)]
      delta.sync = { ...delta.sync, lastSuccess: ended, previousSuccess: ended - 15 }
      await store.commit('production', commitOf(delta, after === undefined ? {} : { gap: { from: began, to: ended } }))
    },
    begins: async (receiver = 'slack') => (await sent(receiver)).map(({ report }) => report.since),
    setUps: async (receiver = 'slack') => (await sent(receiver)).map(({ setUp }) => setUp),
    state: async (receiver = 'slack') => (await store.notified()).receivers.get(receiver)!,
    restart: (...more: string[]) => {
      all.receivers.push(...more)
      process.unsubscribe()
      process = start()
    },
  }
}

describe('a daily report', () => {
  test('is sent each day at its time, of the day before', async () => {
    const { later, begins } = await reporting('2026-11-18T12:00:00Z')
    expect(await begins()).toEqual(['2026-11-16T23:00:00.000Z'])
    await later(20 * HOUR - 10)
    expect(await begins()).toHaveLength(1)
    await later(10)
    expect(await begins()).toHaveLength(2)
    await later(DAY)
    expect(await begins()).toEqual(['16', '17', '18'].map((day) => `2026-11-${day}T23:00:00.000Z`))
  })

  test('has the calls of the day, next to those of the same weekday before', async () => {
    const { clock, sent } = await reporting('2026-10-26T08:00:00Z')
    await clock.advance(0)
    const [message] = await sent()
    expect(message).toMatchObject({ kind: 'report', every: 'day' })
    const { since, until, by, total } = message!.report
    expect([since, until, by]).toEqual(['2026-10-24T22:00:00.000Z', '2026-10-25T23:00:00.000Z', ['target']])
    expect(total).toMatchObject({ calls: { total: 25 }, participant_minutes: { total: 100 } })
    expect(total.compared).toMatchObject({ days: 1, known_days: 1, before: { calls: 24, participant_minutes: 96 } })
  })

  test('is sent once, however often the daemon is started', async () => {
    const { clock, begins, restart, state } = await reporting('2026-11-18T08:00:00Z')
    for (let i = 0; i < 5; i += 1) {
      await clock.advance(600)
      restart()
    }
    expect(await begins()).toHaveLength(1)
    expect((await state()).reports).toEqual({ day: utc('2026-11-17T23:00:00Z') })
  })

  test('is made once, for all receivers', async () => {
    const { later, storing, sent } = await reporting('2026-11-18T08:00:00Z', { receivers: ['slack', 'webhook'] })
    expect(await sent('webhook')).toEqual(await sent('slack'))
    expect(await sent('webhook')).toHaveLength(1)
    const { reads } = storing
    for (let i = 0; i < 6; i += 1) await later(HOUR)
    expect([reads > 0, storing.reads]).toEqual([true, reads])
  })

  test('is sent until the next one is due, and then only that', async () => {
    const { clock, later, begins, failing } = await reporting('2026-11-18T07:00:00Z', { added: '2026-11-18' })
    failing.isDown = true
    await later(23 * HOUR)
    failing.isDown = false
    await clock.advance(300)
    expect(await begins()).toEqual(['2026-11-16T23:00:00.000Z'])
    failing.isDown = true
    await later(2.5 * DAY)
    failing.isDown = false
    await clock.advance(300)
    expect(await begins()).toEqual(['2026-11-16T23:00:00.000Z', '2026-11-19T23:00:00.000Z'])
  })

  test('is not sent to a receiver that was added later', async () => {
    const { later, sent, restart } = await reporting('2026-11-18T12:00:00Z')
    restart('later')
    expect(await sent('later')).toEqual([])
    await later(DAY)
    expect(await sent('later')).toHaveLength(1)
  })

  test('is sent once the store can be used, which is tried each minute', async () => {
    const { clock, begins, storing } = await reporting('2026-11-18T07:59:00Z', { added: '2026-11-18' })
    storing.isBusy = true
    await clock.advance(600)
    expect(await begins()).toEqual([])
    expect(storing.reads).toBeLessThan(30)
    storing.isBusy = false
    await clock.advance(60)
    expect(await begins()).toHaveLength(1)
  })

  test('is not sent once the daemon stops', async () => {
    const { clock, begins, draining$ } = await reporting('2026-11-18T07:59:00Z', { added: '2026-11-18' })
    await clock.advance(30)
    draining$.next()
    await clock.advance(600)
    expect(await begins()).toEqual([])
  })

  test.each([
    ['at midnight, of the day that is just over', '00:00', '2026-11-17T22:59:30Z', '2026-11-16T23:00:00.000Z'],
    ['at a time that the clocks leave out', '02:30', '2026-03-29T00:59:30Z', '2026-03-27T23:00:00.000Z'],
    ['at a time that comes twice', '02:30', '2026-10-25T00:29:30Z', '2026-10-23T22:00:00.000Z'],
  ])('is sent once %s', async (_case, at, now, begin) => {
    const { clock, begins } = await reporting(now, { reports: [{ at }] })
    await clock.advance(0)
    const before = await begins()
    await clock.advance(1.5 * HOUR)
    expect((await begins()).slice(before.length)).toEqual([begin])
  })

  test('is not sent while no target has calls of its day', async () => {
    const { clock, begins } = await reporting('2026-11-18T08:00:00Z', { created: { new: '2026-11-18T00:00:00Z' } })
    await clock.advance(600)
    expect(await begins()).toEqual([])
  })
})

test('a weekly and a monthly report have their own cursors, and their own receivers', async () => {
  const reports = [
    { every: 'week', receivers: ['slack'] },
    { every: 'month', timezone: 'UTC', at: '06:00', receivers: ['mail'] },
  ] as const
  const { later, sent, begins, state } = await reporting('2026-11-28T12:00:00Z', {
    reports: reports.map(({ receivers, ...one }) => ({ ...one, receivers: [...receivers] })),
    receivers: ['slack', 'mail'],
    past: 40,
  })
  // Those that are due already.
  expect([await begins('slack'), await begins('mail')]).toEqual([
    ['2026-11-15T23:00:00.000Z'],
    ['2026-10-01T00:00:00.000Z'],
  ])
  for (let day = 0; day < 3; day += 1) await later(DAY)
  const [slack, mail] = [await sent('slack'), await sent('mail')]
  expect([slack.length, mail.length]).toEqual([2, 2])
  expect(slack[1]).toMatchObject({
    every: 'week',
    report: { since: '2026-11-22T23:00:00.000Z', until: '2026-11-29T23:00:00.000Z' },
  })
  expect(mail[1]).toMatchObject({
    every: 'month',
    report: { since: '2026-11-01T00:00:00.000Z', until: '2026-12-01T00:00:00.000Z' },
  })
  expect((await state('slack')).reports).toEqual({ week: utc('2026-11-29T23:00:00Z') })
  expect((await state('mail')).reports).toEqual({ month: utc('2026-12-01T00:00:00Z') })
})

describe('a report of a day that was not seen for all of its time', () => {
  const blind = async ({ sent }: Awaited<ReturnType<typeof reporting>>) =>
    (await sent()).map(({ report }) => report.coverage.blind_seconds)

  test('waits while its calls may still be counted, and then says what polls did not cover', async () => {
    const report = await reporting('2026-11-18T07:59:00Z', { added: '2026-11-18' })
    await report.poll('2026-11-17T22:00:00Z')
    await report.clock.advance(HOUR)
    expect(await report.begins()).toEqual([])
    await report.poll('2026-11-18T08:59:30Z', '2026-11-17T22:00:00Z')
    await report.clock.advance(60)
    expect(await blind(report)).toEqual([HOUR])
  })

  test.each([
    ['that is due', '2026-11-18T07:59:00Z', 60],
    ['that was due hours ago, when the daemon starts', '2026-11-18T12:00:00Z', 0],
  ])('%s, waits two hours at most', async (_what, now, seconds) => {
    const report = await reporting(now, { added: '2026-11-18' })
    await report.poll('2026-11-17T10:00:00Z')
    await report.clock.advance(2 * HOUR + seconds - 60)
    expect(await report.begins()).toEqual([])
    await report.clock.advance(120)
    expect(await blind(report)).toEqual([13 * HOUR])
  })

  test.each([
    ['less than an hour', '2026-11-17T22:00:01Z', undefined, HOUR - 1],
    ['times of which the calls have been counted since', '2026-11-17T20:00:00Z', '2026-11-17T05:00:00Z', 18 * HOUR],
  ])('does not wait for %s', async (_what, at, after, seconds) => {
    const report = await reporting('2026-11-18T08:00:00Z')
    await report.poll(at, after)
    if (after !== undefined) await report.poll('2026-11-18T07:59:59Z', at)
    await report.clock.advance(0)
    expect(await blind(report)).toEqual([seconds])
  })
})

describe('the first report, of the day before a set-up', () => {
  const NOW = '2026-11-18T12:00:00Z'
  const past = { from: utc(NOW) - DAY, readAt: utc(NOW) }
  const first = () => reporting(NOW, { reports: [], created: {} })

  test('has all targets that were set up together, once, whatever is configured', async () => {
    const { add, setUps, sent, clock, restart, state } = await first()
    await add('a', { past })
    await add('b', { past })
    expect(await setUps()).toEqual([['a', 'b']])
    const [message] = await sent()
    expect(message).toMatchObject({ every: undefined, report: { zone: 'UTC', by: ['target'] } })
    expect(Date.parse(message!.report.until) - Date.parse(message!.report.since)).toBe(DAY * 1000)
    expect(message!.report.total.calls.total).toBe(48)
    restart()
    await clock.advance(600)
    expect(await setUps()).toHaveLength(1)
    expect((await state()).setUps).toEqual({ a: utc(NOW), b: utc(NOW) })
  })

  test('says what is usual, and above what rules with `above_usual` fire', async () => {
    const { add, sent } = await first()
    await add('a', { past })
    const [alone] = await sent()
    const line = (message: ReportMessage) => bulletinOf(message).parts[0]!.lines.at(-1)
    expect(line(alone!)).toBe('HighFailureRate: usually 24.6% of calls fail, so that it fires above 39.6%')
    await add('b', { past })
    await add('c', { past })
    const [, both] = await sent()
    expect(line(both!)).toBe(
      'HighFailureRate: usually 24.6% of calls fail on b, so that it fires above 39.6%; 24.6% on c, above 39.6%',
    )
    const usual = [0.7, 0.5, 0.44, 0.1, 0.05].map((share, i) => {
      return {
        alert: 'Failing',
        target: `t${i}`,
        of: { mode: 'call', type: 'video' },
        reason: 'rejected' as const,
        usual: share,
        threshold: Math.max(0.3, share + 0.15),
      }
    })
    expect(line({ ...both!, usual })).toBe(
      'Failing: usually 70% of ringing video calls are rejected on t0, so that it fires above 85%; 50% on t1, above 65%; 44% on t2, above 59%; and 2 more targets',
    )
  })

  test('has the targets that were added later, and those that were set up again', async () => {
    const { add, setUps } = await first()
    await add('a', { past })
    await setUps()
    await add('b', { past })
    await setUps()
    await add('a', { past, created: utc(NOW) + 100 })
    expect(await setUps()).toEqual([['a'], ['b'], ['a']])
  })

  test('is sent once, also after days of other reports, and is forgotten then', async () => {
    const { add, clock, later, targets, sent, state } = await reporting(NOW, { created: {}, added: NOW })
    await add('a', { past })
    for (let day = 0; day < 3; day += 1) {
      const known = targets.get('a')!
      targets.set('a', { ...known, serviceNow: clock.wall() })
      await sent()
      await later(DAY)
    }
    expect((await sent()).map(({ every }) => every)).toEqual([undefined, 'day', 'day', 'day'])
    await add('b', { past, created: clock.wall() })
    await sent()
    expect(Object.keys((await state()).setUps)).toEqual(['b'])
  })

  test('is sent on the same day to a receiver that is added later', async () => {
    const { add, setUps, restart } = await first()
    await add('a', { past })
    await setUps()
    restart('later')
    expect([await setUps('later'), await setUps()]).toEqual([[['a']], [['a']]])
  })

  test('waits ten minutes for a target whose list is still read', async () => {
    const { add, setUps, targets } = await first()
    await add('a', { past })
    const slow = { name: 'slow', created: utc(NOW), past: undefined, isSwept: false, serviceNow: utc(NOW) + 599 }
    targets.set('slow', slow)
    expect(await setUps()).toEqual([])
    targets.set('slow', { ...slow, serviceNow: utc(NOW) + 601 })
    expect(await setUps()).toEqual([['a']])
    await add('slow', { past })
    expect(await setUps()).toEqual([['a'], ['slow']])
  })

  test.each([
    ['whose past is not counted', { past: undefined }],
    ['that was set up more than a day ago', { past, serviceNow: utc(NOW) + DAY + 1 }],
  ])('has no target %s', async (_what, setUp) => {
    const { add, setUps } = await first()
    await add('a', setUp)
    expect(await setUps()).toEqual([])
  })
})
