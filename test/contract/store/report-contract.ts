import { describe, expect, test } from 'vitest'
import { isoTime } from '../../../src/clock/times.ts'
import { reportShown } from '../../kit/history/as-shown.ts'
import { callsIn, fillOctober, NAMES, NOW, OCTOBER, plainOf, unix, ZONE, type Name } from '../../kit/history/october.ts'
import { completePoll, CREATED, seen } from '../../kit/ledger/seen.ts'
import { DAY, openIn, type NewPlace } from '../../kit/store/place.ts'
import type { Report, ReportTotal } from '../../../src/views/report.ts'
import { minuteSums } from '../../../src/history/minute-sums.ts'
import type { UsageKey } from '../../../src/history/usage-keys.ts'

type Asked = {
  since?: string
  until?: string
  by?: readonly UsageKey[]
  targets?: readonly Name[]
  now?: number
  appOf?: (target: string) => string
}

/** What every store answers to a report. */
export function reportContract(newPlace: NewPlace): void {
  describe('a report', () => {
    async function october() {
      const store = await (await newPlace()).open()
      await fillOctober(store)
      return async ({
        since = OCTOBER.since,
        until = OCTOBER.until,
        by = ['target'],
        targets,
        now = NOW,
        appOf,
      }: Asked = {}) =>
        reportShown(
          store,
          { from: unix(since), to: unix(until), by, zone: ZONE, targets, appOf },
          { configured: NAMES, now },
        )
    }
    const figures = ({
      calls,
      failure_ratio: ratio,
      participant_minutes: minutes,
      user_minutes: users,
      invited,
    }: ReportTotal) => ({
      invited,
      calls: calls.total,
      failed: Math.round((ratio ?? 0) * calls.total),
      participantMinutes: minutes.total,
      userMinutes: users,
    })
    const known = ({ compared: { days, known_days } }: ReportTotal) => `${known_days} of ${days}`
    const rowOf = ({ rows }: Report, target: Name) => rows.find((row) => row.target === target)!

    test('of a month has the calls of its days in its zone, by target and together', async () => {
      const report = await (await october())()
      for (const name of NAMES) expect(figures(rowOf(report, name))).toEqual(plainOf(callsIn(OCTOBER, name)))
      expect(figures(report.total)).toEqual(plainOf(callsIn(OCTOBER, ...NAMES)))
    })

    test('is compared with the month before on the days that are known of both', async () => {
      const report = await (await october())()
      expect(report.before).toEqual({ since: '2026-08-31T22:00:00.000Z', until: '2026-09-30T22:00:00.000Z' })
      // The 27th to the 30th; September has no 31st.
      expect(known(rowOf(report, 'production'))).toBe('4 of 31')
      const days = { since: '2026-10-26T23:00:00Z', until: '2026-10-30T23:00:00Z' }
      const daysBefore = { since: '2026-09-26T22:00:00Z', until: '2026-09-30T22:00:00Z' }
      const { now, before } = rowOf(report, 'production').compared
      const plain = [days, daysBefore].map((each) => plainOf(callsIn(each, 'production')))
      expect([now, before].map(({ calls, user_minutes: users }) => [calls, users])).toEqual(
        plain.map(({ calls, userMinutes }) => [calls, userMinutes]),
      )
      expect(known(rowOf(report, 'staging'))).toBe('0 of 31')
      expect([known(report.total), report.total.compared.before]).toEqual(['4 of 62', before])
    })

    test('by day has the comparison of each day, and 25 hours of the day on which the clocks change', async () => {
      const report = await (await october())({ by: ['day'] })
      expect(report.rows).toHaveLength(31)
      expect(report.rows.filter((row) => row.compared.known_days > 0).map(({ day }) => day)).toEqual(
        ['27', '28', '29', '30'].map((day) => `2026-10-${day}`),
      )
      const change = report.rows.find(({ day }) => day === '2026-10-25')!
      const hours = { since: '2026-10-24T22:00:00Z', until: '2026-10-25T23:00:00Z' }
      expect(change.calls.total).toBe(callsIn(hours, ...NAMES).length)
    })

    test('is not compared on less than a day that is known of both', async () => {
      const ask = await october()
      const knownUntil = async (until: string) => {
        const { total } = await ask({ since: '2026-10-28T10:00:00Z', until, targets: ['production'] })
        return [known(total), total.compared.before.calls > 0]
      }
      expect(await knownUntil('2026-10-29T08:59:59Z')).toEqual(['0 of 2', false])
      // As long as the shortest day.
      expect(await knownUntil('2026-10-29T09:00:00Z')).toEqual(['2 of 2', true])
    })

    test('by app has of each app what its targets have together, and of a target without one its own', async () => {
      const ask = await october()
      const together = await ask({ by: ['app'], appOf: () => 'shop' })
      expect(together.rows).toEqual([{ app: 'shop', ...together.total }])
      const [apps, targets] = [await ask({ by: ['day', 'app'] }), await ask({ by: ['day', 'target'] })]
      expect(apps.rows.map(({ app, ...row }) => ({ ...row, target: app }))).toEqual(targets.rows)
    })

    test('has of each row how much of it is not covered', async () => {
      const report = await (await october())({ by: ['day', 'target'] })
      const blind = report.rows.flatMap(({ day, target, blind_seconds: seconds }) =>
        seconds === 0 ? [] : `${day} ${target} ${seconds}`,
      )
      // Staging is known from noon of the 19th on; it has no row of a day before.
      expect(blind).toEqual([`2026-10-19 staging ${12 * 3600}`])
      const { coverage, total } = report
      expect(total.blind_seconds).toBe(coverage.blind_seconds)
      expect(coverage).toMatchObject({
        blind_seconds: unix('2026-10-19T10:00:00Z') - unix(OCTOBER.since),
        blind: [{ target: 'staging', kind: 'before', since: OCTOBER.since, until: '2026-10-19T10:00:00.000Z' }],
      })
    })

    test('of minutes can be added up in each way in which a vendor may do it', async () => {
      const store = await (await newPlace()).open()
      const { see } = await openIn(store)
      const call = (id: string, seconds: number, joined: number, audio: number, video: number) =>
        seen(id, 'ended', {
          startedAt: CREATED,
          endedAt: CREATED + seconds,
          totalParticipants: joined,
          participantMinutes: { audio, video, total: undefined },
        })
      const failed = seen('d', 'rejected', { endedAt: CREATED + 9, totalParticipants: 0 })
      await see(completePoll(600, call('a', 90, 2, 2, 0.25), call('b', 60, 1, 0.75, 0), failed))
      const sums = await minuteSums(store, 'a', { from: CREATED, to: CREATED + 100 })
      expect(sums.map(({ of, rounded, withAlone, minutes }) => [of, rounded, withAlone, minutes])).toEqual([
        ['participants', 'nothing', true, 3],
        ['participants', 'nothing', false, 2.25],
        ['participants', 'call', true, 4],
        ['participants', 'call', false, 3],
        ['participants', 'participant', true, 4.5],
        ['participants', 'participant', false, 3.25],
        ['duration', 'nothing', true, 4],
        ['duration', 'nothing', false, 3],
        ['duration', 'call', true, 4],
        ['duration', 'call', false, 3],
        ['duration', 'participant', true, 5],
        ['duration', 'participant', false, 4],
      ])
      const none = await minuteSums(store, 'a', { from: CREATED + 100, to: CREATED + 200 })
      expect(new Set(none.map(({ minutes }) => minutes))).toEqual(new Set([0]))
    })

    test('of a day is compared with the same weekday of the week before', async () => {
      const report = await (await october())({ since: '2026-10-24T22:00:00Z', until: '2026-10-25T23:00:00Z' })
      expect(report.before).toEqual({ since: '2026-10-17T22:00:00.000Z', until: '2026-10-18T22:00:00.000Z' })
      expect(NAMES.map((name) => known(rowOf(report, name)))).toEqual(['1 of 1', '0 of 1'])
    })

    test('of seven days that begin within a day is compared with the seven days before, each part with its own', async () => {
      const [since, until] = ['2026-10-10T16:43:47Z', '2026-10-17T16:43:48Z']
      const report = await (await october())({ since, until, by: ['day', 'target'], targets: ['production'] })
      expect(report.before).toEqual({ since: '2026-10-03T16:43:47.000Z', until: '2026-10-10T16:43:48.000Z' })
      const { now, before } = report.total.compared
      const plain = [{ since, until }, report.before!].map((each) => plainOf(callsIn(each, 'production')))
      expect([known(report.total), now.calls, before.calls]).toEqual(['8 of 8', ...plain.map(({ calls }) => calls)])
      const last = report.rows.find(({ day }) => day === '2026-10-17')
      const sameDay = { since: '2026-10-09T22:00:00Z', until: '2026-10-10T16:43:48Z' }
      expect(last?.compared.before.calls).toBe(plainOf(callsIn(sameDay, 'production')).calls)
    })

    test('of a running month has a forecast at the pace of its known days', async () => {
      const now = unix('2026-10-22T22:00:00Z')
      const [report, whole] = await october().then((ask) =>
        Promise.all([ask({ now, until: '2026-10-22T22:00:00Z' }), ask()]),
      )
      const until = '2026-10-22T22:00:00Z'
      const so = (since: string, name: Name) => plainOf(callsIn({ since, until }, name)).calls
      const left = unix(OCTOBER.until) - now
      // Staging has three known days.
      const expected =
        so(OCTOBER.since, 'production') * (1 + left / (22 * DAY)) +
        so(OCTOBER.since, 'staging') +
        (so('2026-10-19T22:00:00Z', 'staging') * left) / (3 * DAY)
      expect(report.forecast).toMatchObject({ until: OCTOBER.until, calls: Math.round(expected) })
      expect(whole.forecast).toBeNull()
    })

    test('has what fired, by rule, and for how long', async () => {
      const ask = await october()
      const fired = [{ alert: 'HighFailureRate', severity: 'warning', times: 1, targets: 1, seconds: 7200 }]
      expect((await ask()).fired).toEqual(fired)
      const part = { since: '2026-10-12T09:00:00Z', until: '2026-10-13T09:00:00Z' }
      expect((await ask(part)).fired).toEqual([{ ...fired[0], seconds: 3600 }])
      expect((await ask({ targets: ['staging'] })).fired).toEqual([])
    })

    test('ends now, and an empty one is compared with nothing', async () => {
      const ask = await october()
      expect((await ask({ until: '2026-12-01T00:00:00Z' })).until).toBe('2026-11-03T11:00:00.000Z')
      expect(await ask({ since: '2026-12-01T00:00:00Z', until: '2026-12-02T00:00:00Z' })).toMatchObject({
        before: null,
        rows: [],
        total: { calls: { total: 0 }, compared: { days: 0, known_days: 0 } },
      })
    })

    test('has a target that fell silent, with what it had before', async () => {
      const store = await (await newPlace()).open()
      const { see } = await openIn(store)
      await see(completePoll(3 * DAY, seen('a', 'ended', { endedAt: CREATED + DAY })))
      const from = CREATED + 7.5 * DAY
      await see(completePoll(8.5 * DAY))
      const { rows } = await reportShown(
        store,
        { from, to: from + DAY, by: ['target'], zone: 'UTC' },
        { configured: ['a'], now: from + DAY },
      )
      expect(rows).toMatchObject([{ target: 'a', calls: { total: 0 }, compared: { before: { calls: 1 } } }])
    })

    test.each([
      [
        'the hour with the largest share of failures, not the busiest one',
        [
          [8.1, 100, 20],
          [5.1, 20, 12],
          [3.1, 2, 2],
        ],
        12,
      ],
      [
        'none that is hardly worse than the period',
        [
          [8.1, 100, 20],
          [5.1, 20, 5],
        ],
        undefined,
      ],
    ] as const)('has as the worst hour %s', async (_what, hours, failed) => {
      const store = await (await newPlace()).open()
      const { see } = await openIn(store)
      const to = CREATED + DAY
      const calls = hours.flatMap(([ago, all, rejected]) =>
        Array.from({ length: all }, (_, i) =>
          seen(`${ago} ${i}`, i < rejected ? 'rejected' : 'ended', { endedAt: to - ago * 3600 + i }),
        ),
      )
      // Another one, in the hour in which the period begins, but before it.
      const before = Array.from({ length: 30 }, (_, i) =>
        seen(`b${i}`, 'rejected', { endedAt: to - 10 * 3600 - 60 - i }),
      )
      await see(completePoll(DAY, ...calls, ...before))
      const { worst_hour: worst } = await reportShown(
        store,
        { from: to - 10 * 3600, to, by: [], zone: 'UTC' },
        { configured: ['a'], now: to },
      )
      // As the view describes it, and nothing else.
      const hour =
        failed === undefined ? null : { since: isoTime(Math.floor((to - 5.1 * 3600) / 3600) * 3600), calls: 20, failed }
      expect(worst).toEqual(hour)
    })
  })
}
