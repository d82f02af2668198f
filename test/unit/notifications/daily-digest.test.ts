import { merge, Subject } from 'rxjs'
import { describe, expect, test } from 'vitest'
import { newDraft } from '../../../src/ledger/delta/delta-draft.ts'
import { computeDelta } from '../../../src/ledger/delta/compute-delta.ts'
import { runJobs } from '../../../src/daemon/jobs.ts'
import { dailyDigest } from '../../../src/notifications/daily-digest.ts'
import { deliver } from '../../../src/notifications/delivery/deliver.ts'
import { readNotified } from '../../../src/notifications/delivery/notified.ts'
import { newPauses } from '../../../src/notifications/delivery/pauses.ts'
import { reportRound, type Report } from '../../../src/notifications/delivery/reports.ts'
import type { DigestMessage, Message } from '../../../src/notifications/message.ts'
import { openSqliteStore } from '../../../src/store/open-sqlite.ts'
import { StoreError } from '../../../src/store/store-error.ts'
import { virtualClock } from '../../kit/virtual-clock.ts'
import { completePoll, CREATED, seen } from '../../kit/ledger/seen.ts'
import { commitOf } from '../../kit/store/place.ts'

const utc = (text: string) => Date.parse(text) / 1000
const DAY = 86_400

/** A call finished in the middle of each hour, with four participant minutes. Every fourth was rejected. */
function hourly(from: number, to: number) {
  const hours = Array.from({ length: Math.round((to - from) / 3600) }, (_, i) => i)
  return hours.map((hour) => {
    const endedAt = from + hour * 3600 + 1800
    const participantMinutes = { audio: 4, video: 0, total: undefined }
    return seen(`${endedAt}`, hour % 4 === 3 ? 'rejected' : 'ended', { endedAt, participantMinutes })
  })
}

type Setting = { at?: string; timezone?: string; receivers?: readonly string[]; created?: Record<string, string> }

/** A digest at nine in the morning in Berlin, of targets with a call an hour. */
async function digesting(now: string, setting: Setting = {}) {
  const { at = '09:00', timezone = 'Europe/Berlin', receivers = ['slack'] } = setting
  const { created = { production: '2026-01-01T00:00:00Z' } } = setting
  const clock = virtualClock(utc(now))
  const draining$ = new Subject<void>()
  const store = openSqliteStore({ path: ':memory:' })
  const storing = { isBusy: false, reads: 0 }
  const targets = Object.entries(created).map(([name, since]) => {
    return { name, created: utc(since) }
  })
  const midnight = Math.floor(utc(now) / DAY) * DAY
  const calls = hourly(midnight - 10 * DAY, midnight + 3 * DAY)
  for (const { name, created: since } of targets) {
    const { ledger } = await store.openTarget({ name, fingerprint: '' }, since, DAY)
    const options = { lookback: 1000 * DAY, baseline: 'count', details: 'missing' } as const
    await store.commit(
      name,
      commitOf(computeDelta(ledger, completePoll(midnight + 3 * DAY - CREATED, ...calls), options)!),
    )
  }
  const received = new Map<string, DigestMessage[]>(receivers.map((name) => [name, []]))
  /** A process that makes the digests and sends them. */
  const start = () => {
    const reports: Report[] = []
    const digest = dailyDigest({
      settings: () => ({ digest: { at, timezone } }),
      clock,
      targets: () => targets,
      store: {
        rows: (...query) => {
          storing.reads += 1
          if (storing.isBusy) return Promise.reject(new StoreError('unavailable', 'the store is busy'))
          return store.rows(...query)
        },
      },
    })
    const run = async () => {
      const report = await digest()
      if (report !== undefined) reports.push(report)
    }
    const told = readNotified(receivers, { clock, store })
    const rounds = receivers.map((name) => {
      const send = async (message: Message) => {
        if (message.kind === 'digest') received.get(name)!.push(message)
      }
      const options = { clock, reports: () => reports, notified: async () => (await told).get(name)! }
      return deliver([reportRound({ name, send }, newPauses(clock), options)], { clock, draining$ })
    })
    const job = { every: 60, first: 0, leaderOnly: true, run }
    return merge(...rounds, runJobs([job], { clock, ownership: { isLeader: () => true }, draining$ })).subscribe()
  }
  // They were there before the digest was due.
  await Promise.all(
    (await readNotified(receivers, { clock: virtualClock(0), store })).values().map((one) => one.flush()),
  )
  let process = start()
  const digests = async (receiver = 'slack') => {
    // It is sent in the second after it is made.
    await clock.advance(1)
    return received.get(receiver)!
  }
  /** A poll of the target succeeded then; if that was long after the one before, not at once. */
  const poll = async (at: string, after?: string) => {
    const { ledger } = await store.openTarget({ name: 'production', fingerprint: '' }, utc('2026-01-01T00:00:00Z'), DAY)
    const { delta } = newDraft(ledger.sync)
    const [ended, began] = [utc(at), utc(after ?? at)]
    delta.sync = { ...delta.sync, lastSuccess: ended, previousSuccess: ended - 15 }
    await store.commit('production', commitOf(delta, after === undefined ? {} : { gap: { from: began, to: ended } }))
  }
  return {
    poll,
    clock,
    draining$,
    storing,
    digests,
    days: async () => (await digests()).map(({ day }) => day),
    restart: () => {
      process.unsubscribe()
      process = start()
    },
  }
}

describe('the digest', () => {
  test('is sent each day at its time, for the day before', async () => {
    const { clock, days } = await digesting('2026-11-18T12:00:00Z')
    await clock.advance(0)
    expect(await days()).toEqual(['2026-11-17'])
    await clock.advance(20 * 3600 - 3)
    expect(await days()).toHaveLength(1)
    await clock.advance(60)
    expect(await days()).toEqual(['2026-11-17', '2026-11-18'])
    await clock.advance(DAY)
    expect(await days()).toEqual(['2026-11-17', '2026-11-18', '2026-11-19'])
  })

  test('is sent once, however often the daemon is started', async () => {
    const { clock, days, restart } = await digesting('2026-11-18T08:00:00Z')
    for (let i = 0; i < 5; i += 1) {
      await clock.advance(600)
      restart()
    }
    expect(await days()).toEqual(['2026-11-17'])
  })

  test('is not computed again once it is made', async () => {
    const { clock, storing } = await digesting('2026-11-18T08:00:00Z')
    await clock.advance(0)
    const { reads } = storing
    await clock.advance(6 * 3600)
    expect([reads > 0, storing.reads]).toEqual([true, reads])
  })

  test('is sent within half a day if the daemon did not run at its time', async () => {
    const late = await digesting('2026-11-18T19:59:00Z')
    await late.clock.advance(0)
    expect(await late.days()).toEqual(['2026-11-17'])
    const tooLate = await digesting('2026-11-18T20:01:00Z')
    await tooLate.clock.advance(0)
    expect(await tooLate.days()).toEqual([])
  })

  test('is sent once the store can be used, which is tried each minute', async () => {
    const { clock, days, storing } = await digesting('2026-11-18T07:59:00Z')
    storing.isBusy = true
    await clock.advance(600)
    expect(await days()).toEqual([])
    storing.isBusy = false
    await clock.advance(60)
    expect(await days()).toEqual(['2026-11-17'])
  })

  test('comes to each receiver', async () => {
    const { clock, digests } = await digesting('2026-11-18T12:00:00Z', { receivers: ['slack', 'webhook'] })
    await clock.advance(0)
    expect(await digests('webhook')).toEqual(await digests('slack'))
    expect(await digests('webhook')).toHaveLength(1)
  })

  test('is not sent once the daemon stops', async () => {
    const { clock, days, draining$ } = await digesting('2026-11-18T07:59:00Z')
    await clock.advance(30)
    draining$.next()
    await clock.advance(600)
    expect(await days()).toEqual([])
  })

  test.each([
    ['at midnight, of the day that is just over', '00:00', '2026-11-17T22:59:30Z', '2026-11-17'],
    ['at a time that the clocks leave out', '02:30', '2026-03-29T00:59:30Z', '2026-03-28'],
    ['at a time that comes twice', '02:30', '2026-10-25T00:29:30Z', '2026-10-24'],
  ])('is sent once %s', async (_case, at, now, day) => {
    const { clock, days } = await digesting(now, { at })
    await clock.advance(0)
    const before = await days()
    await clock.advance(3 * 3600)
    expect((await days()).slice(before.length)).toEqual([day])
  })
})

describe('a digest', () => {
  test('has the calls and minutes of the day, and of the same weekday before', async () => {
    const { clock, digests } = await digesting('2026-11-18T08:00:00Z')
    await clock.advance(0)
    const counts = { ended: 18, rejected: 6, unanswered: 0, canceled: 0, other: 0, total: 24 }
    const figures = { counts, minutes: 96, blindSeconds: 0 }
    expect(await digests()).toEqual([
      {
        kind: 'digest',
        day: '2026-11-17',
        timezone: 'Europe/Berlin',
        targets: [{ target: 'production', day: figures, weekBefore: figures }],
      },
    ])
  })

  test('has all of a day of 25 hours, and the 24 of the week before', async () => {
    const { clock, digests } = await digesting('2026-10-26T08:00:00Z')
    await clock.advance(0)
    const [digest] = await digests()
    expect(digest).toMatchObject({
      day: '2026-10-25',
      targets: [{ day: { counts: { total: 25 }, minutes: 100 }, weekBefore: { counts: { total: 24 }, minutes: 96 } }],
    })
  })

  test('has no week before of a target that was not polled for all of that day', async () => {
    const { clock, digests } = await digesting('2026-11-18T08:00:00Z', {
      created: { young: '2026-11-09T23:00:01Z', old: '2026-11-09T23:00:00Z' },
    })
    await clock.advance(0)
    const [digest] = await digests()
    expect(digest?.targets.map(({ target, weekBefore }) => [target, weekBefore !== undefined])).toEqual([
      ['young', false],
      ['old', true],
    ])
  })

  test('has the same weekday before, though the clocks were set forward in between', async () => {
    const { clock, digests } = await digesting('2026-03-31T08:00:00Z', {
      created: { production: '2026-03-22T23:00:00Z' },
    })
    await clock.advance(0)
    expect(await digests()).toMatchObject([{ day: '2026-03-30', targets: [{ weekBefore: { minutes: 96 } }] }])
  })

  test('leaves out a target that did not exist on that day', async () => {
    const { clock, digests } = await digesting('2026-11-18T08:00:00Z', {
      created: { production: '2026-11-17T22:59:59Z', new: '2026-11-17T23:00:00Z' },
    })
    await clock.advance(0)
    expect((await digests()).map(({ targets }) => targets.map(({ target }) => target))).toEqual([['production']])
  })

  test('of no target is not sent', async () => {
    const { clock, days } = await digesting('2026-11-18T08:00:00Z', { created: { new: '2026-11-18T00:00:00Z' } })
    await clock.advance(600)
    expect(await days()).toEqual([])
  })
})

describe('a digest of a day that was not seen for all of its time', () => {
  const HOUR = 3600
  const covered = async ({ digests }: Awaited<ReturnType<typeof digesting>>) =>
    (await digests()).map(({ targets }) =>
      targets.map(({ day, weekBefore }) => [day, weekBefore].map((of) => of?.blindSeconds)),
    )

  test('waits while its calls may still be counted, and then says what polls did not cover', async () => {
    const digest = await digesting('2026-11-18T07:59:00Z')
    await digest.poll('2026-11-17T22:00:00Z')
    await digest.clock.advance(HOUR)
    expect(await digest.days()).toEqual([])
    await digest.poll('2026-11-18T08:59:30Z', '2026-11-17T22:00:00Z')
    await digest.clock.advance(60)
    expect(await covered(digest)).toEqual([[[HOUR, 0]]])
  })

  test.each([
    ['that is due', '2026-11-18T07:59:00Z', 60],
    ['that was due hours ago, when the daemon starts', '2026-11-18T12:00:00Z', 0],
    ['that was due half a day ago, less an hour', '2026-11-18T19:00:00Z', -HOUR - 60],
  ])('%s, waits two hours at most, and not so long that it is not sent', async (_what, now, seconds) => {
    const digest = await digesting(now)
    await digest.poll('2026-11-17T10:00:00Z')
    await digest.clock.advance(2 * HOUR + seconds - 60)
    expect(await digest.days()).toEqual([])
    await digest.clock.advance(60)
    expect(await covered(digest)).toEqual([[[13 * HOUR, 0]]])
  })

  test.each([
    ['less than an hour', '2026-11-17T22:00:01Z', undefined, HOUR - 1],
    [
      'times of which the calls have been counted since',
      '2026-11-17T20:00:00Z',
      '2026-11-17T05:00:00Z',
      15 * HOUR + 3 * HOUR,
    ],
  ])('does not wait for %s', async (_what, at, after, seconds) => {
    const digest = await digesting('2026-11-18T08:00:00Z')
    await digest.poll(at, after)
    if (after !== undefined) await digest.poll('2026-11-18T07:59:59Z', at)
    await digest.clock.advance(0)
    expect(await covered(digest)).toEqual([[[seconds, 0]]])
  })

  test('says it of the day with which it is compared as well', async () => {
    const digest = await digesting('2026-11-18T08:00:00Z')
    await digest.poll('2026-11-10T20:00:00Z', '2026-11-10T18:00:00Z')
    await digest.poll('2026-11-18T07:59:59Z')
    await digest.clock.advance(0)
    expect(await covered(digest)).toEqual([[[0, 2 * HOUR]]])
  })
})
