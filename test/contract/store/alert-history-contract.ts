import { describe, expect, test } from 'vitest'
import type { AlertInstance } from '../../../src/alerts/alert-instance.ts'
import type { EpisodeNote } from '../../../src/alerts/episode.ts'
import { notificationOf, type Notification } from '../../../src/alerts/notification.ts'
import { isoTime } from '../../../src/clock/times.ts'
import { type AlertHistoryQuery } from '../../../src/history/alert-history.ts'
import { alertHistory } from '../../kit/history/as-shown.ts'
import { nowReader } from '../../../src/notifications/delivery/now.ts'
import type { Store } from '../../../src/store/store.ts'
import { RATIO } from '../../kit/alerts/sample-rules.ts'
import { completePoll, CREATED } from '../../kit/ledger/seen.ts'
import { B, commitOf, instance, NO_ALERTS, openAt, openIn, type More, type NewPlace } from '../../kit/store/place.ts'
import { virtualClock } from '../../kit/virtual-clock.ts'

/** A time, by seconds after the set-up. */
const time = (seconds: number) => isoTime(CREATED + seconds)

/** That an alert fires since so many seconds after the set-up, by its instance. */
const firing = (seconds: number, differing: Partial<AlertInstance> = {}): AlertInstance => ({
  ...instance,
  firingSince: CREATED + seconds,
  values: [[CREATED + seconds, 400]],
  ...differing,
})

const changeOf = (
  kind: 'firing' | 'resolved' | 'expired',
  of: AlertInstance,
  seconds: number,
  expiredBecause?: 'target removed' | 'target reset',
): Notification => {
  const change = { kind, ...(expiredBecause && { expiredBecause }) }
  const latest = { ...of, value: kind === 'resolved' ? 3 : of.value, evidence: {} }
  return notificationOf(change, { target: 'a', instance: latest }, CREATED + seconds)
}

const begins = (of: AlertInstance): More => ({
  alerts: { ...NO_ALERTS, changed: [of] },
  changes: [changeOf('firing', of, of.firingSince! - CREATED)],
})
const resolves = (of: AlertInstance, seconds: number): More => ({
  alerts: { ...NO_ALERTS, ended: [of] },
  changes: [changeOf('resolved', of, seconds)],
})

/** What a store promises of alerts that have fired. */
export function alertHistoryContract(newPlace: NewPlace): void {
  describe('the history of alerts', () => {
    const read = async (store: Store, query: Partial<AlertHistoryQuery> = {}, most?: number) =>
      alertHistory(
        store,
        { from: 0, to: CREATED + 1e6, ...query },
        { configured: ['a', 'b'], now: CREATED + 5000 },
        most,
      )
    const whole = async (store: Store) => (await read(store)).alerts
    /** In short: the seconds from when to when, and its outcome. */
    const inShort = async (store: Store, query?: Partial<AlertHistoryQuery>, most?: number) =>
      (await read(store, query, most)).alerts.map(({ target, since, until, outcome, expired_because: because }) => {
        const seconds = (text: string | null) => (text === null ? 'now' : Date.parse(text) / 1000 - CREATED)
        return `${target} ${seconds(since)} to ${seconds(until)}: ${because ?? outcome}`
      })

    /** A store in which alerts fired and resolved so many seconds after the set-up, one after another. */
    async function withPast(...times: readonly (readonly [from: number, to: number])[]) {
      const target = await openAt(newPlace)
      for (const [from, to] of times) {
        await target.see(completePoll(from), begins(firing(from)))
        await target.see(completePoll(to), resolves(firing(from), to))
      }
      return target
    }

    test('gives back the ends since a moment as they were committed, for the messages that tell of them', async () => {
      const { store } = await withPast([50, 60], [70, 90], [100, 120])
      const readNow = nowReader({ clock: virtualClock(CREATED + 5000), store, alerts: () => [], mutes: [] })
      const ends = async (since: number) =>
        [...(await readNow(CREATED + since)).ended.values()].map(({ change }) => change)
      const { episode: _history, ...second } = changeOf('resolved', firing(70), 90)
      const { episode: _same, ...third } = changeOf('resolved', firing(100), 120)
      expect((await ends(60)).toSorted((one, other) => one.at - other.at)).toEqual([second, third])
    })

    test('has an alert from the commit in which it fires, with the latest values while it does', async () => {
      const { store, see } = await openAt(newPlace)
      await see(completePoll(100), begins(firing(100.25)))
      const later = firing(100.25, {
        peak: 500,
        values: [
          [CREATED + 100.25, 400],
          [CREATED + 160, 500],
          [CREATED + 220, null],
        ],
      })
      await see(completePoll(220), { alerts: { ...NO_ALERTS, changed: [later] } })
      expect(await whole(store)).toEqual([
        {
          target: 'a',
          alert: 'NoGoodPoll',
          key: 'NoGoodPoll',
          severity: 'critical',
          labels: {},
          signal: 'poll_age',
          match: {},
          breach: 'above',
          threshold: 300,
          since: time(100.25),
          until: null,
          outcome: null,
          peak: 500,
          rule: expect.stringMatching(/^no successful poll for 5m/),
          values: [
            { at: time(100.25), value: 400 },
            { at: time(160), value: 500 },
            { at: time(220), value: null },
          ],
          notified: [],
          refused: [],
          suppressed: [],
          blind: [],
        },
      ])
    })

    test('says when its target was not seen, unless it is about that', async () => {
      const { store, see } = await openAt(newPlace)
      const other = (seconds: number) => firing(seconds, { key: RATIO.name, rule: RATIO })
      const alert = other(100)
      await see(completePoll(100), begins(alert))
      await see(completePoll(200), { ...resolves(alert, 200), gap: { from: CREATED + 90, to: CREATED + 150 } })
      await see(completePoll(220), begins(other(220)))
      await see(completePoll(221), begins(firing(221)))
      expect((await whole(store)).map(({ alert, blind }) => [alert, blind])).toEqual([
        ['NoGoodPoll', []],
        ['HighFailureRate', [{ since: time(221), until: time(5000) }]],
        ['HighFailureRate', [{ since: time(100), until: time(150) }]],
      ])
    })

    test('has the severity that the rule has by now, also where it is asked for', async () => {
      const { store, see } = await openAt(newPlace)
      await see(completePoll(100), begins(firing(100)))
      const milder = firing(100, { rule: { ...instance.rule, severity: 'info' } })
      await see(completePoll(200), { alerts: { ...NO_ALERTS, changed: [milder] } })
      const severities = async (severity?: 'critical' | 'info') =>
        (await read(store, { severity })).alerts.map((one) => one.severity)
      expect(await severities()).toEqual(['info'])
      expect(await severities('info')).toEqual(['info'])
      expect(await severities('critical')).toEqual([])
    })

    test('has the threshold that the usual share raised when it fired, also while it fires', async () => {
      const { store, see } = await openAt(newPlace)
      const rule = { ...RATIO, signal: { ...RATIO.signal, aboveUsual: 0.15 } }
      const fired = { signal: RATIO.signal.name, relativeTo: undefined, breach: 'above', threshold: 0.4 } as const
      await see(completePoll(100), begins(firing(100, { key: RATIO.name, rule, usual: 0.25, fired })))
      expect(await whole(store)).toMatchObject([
        {
          threshold: 0.4,
          rule: expect.stringContaining('more than 40% of the calls in the last 15m failed, 15 points above'),
        },
      ])
    })

    test('has its end from the commit in which it resolves, with what it fired at and its values', async () => {
      const { store, see, restart } = await openAt(newPlace)
      const clears = { ...instance.rule, clear: 60 }
      const alert = firing(100, { peak: 500, rule: clears })
      await see(completePoll(100), begins(alert))
      await see(completePoll(200), resolves(alert, 200))
      expect(await whole(store)).toMatchObject([
        {
          threshold: 300,
          until: time(200),
          outcome: 'resolved',
          peak: 500,
          values: [
            { at: time(100), value: 400 },
            { at: time(200), value: 3 },
          ],
          blind: [],
        },
      ])
      const before = await whole(store)
      expect(await whole((await restart()).store)).toEqual(before)
    })

    test('has nothing of a commit that was refused', async () => {
      const { store, see, deltaOf } = await openAt(newPlace)
      await see(completePoll(100), begins(firing(100)))
      const delta = deltaOf(completePoll(200))
      const broken = { ...delta, counters: new Map([['a series', Number.NaN]]) }
      const stale = { ...delta, sync: { ...delta.sync, seq: 1 } }
      for (const refused of [broken, stale]) {
        const ends = commitOf(refused, resolves(firing(100), 200))
        await expect(store.commit('a', ends)).rejects.toThrow()
      }
      expect(await inShort(store)).toEqual(['a 100 to now: null'])
    })

    test('has each time that an alert fired, newest first, by the period, the target, the rule and the severity', async () => {
      const { store } = await withPast([100, 200], [300, 400])
      const other = await openIn(store, B)
      const alert = firing(250, {
        key: 'Other{type="audio"}',
        rule: { ...instance.rule, name: 'Other', severity: 'info' },
      })
      const change = { ...changeOf('firing', alert, 250), target: 'b' }
      await other.see(completePoll(250), {
        alerts: { ...NO_ALERTS, changed: [alert] },
        changes: [change],
      })
      const all = ['a 300 to 400: resolved', 'b 250 to now: null', 'a 100 to 200: resolved']
      expect(await inShort(store)).toEqual(all)
      expect(await inShort(store, { from: CREATED + 200, to: CREATED + 300 })).toEqual(all.slice(1))
      expect(await inShort(store, { from: CREATED + 200.1 })).toEqual(all.slice(0, 2))
      expect(await inShort(store, { targets: ['a'] })).toEqual([all[0], all[2]])
      expect(await inShort(store, { targets: ['a', 'b'] })).toEqual(all)
      expect(await inShort(store, { alert: 'Other' })).toEqual([all[1]])
      expect(await inShort(store, { key: 'Other{type="audio"}' })).toEqual([all[1]])
      expect(await inShort(store, { key: 'Other' })).toEqual([])
      expect(await inShort(store, { began: { from: CREATED + 100, to: CREATED + 250 } })).toEqual([all[2]])
      expect(await inShort(store, { severity: 'critical' })).toEqual([all[0], all[2]])
      expect(await read(store, {}, 3)).not.toHaveProperty('truncated')
      expect(await read(store, {}, 2)).toHaveProperty('truncated', true)
      expect(await inShort(store, {}, 2)).toEqual(all.slice(0, 2))
      await expect(read(store, { targets: ['c'] })).rejects.toThrow('there is no target c; there is: a, b')
    })

    test('has the end of alerts that expire without a poll, of a target that was removed or reset', async () => {
      const { store, see } = await openAt(newPlace)
      await see(completePoll(100), begins(firing(100)))
      await store.expireAlerts('a', [changeOf('expired', firing(100), 150, 'target removed')])
      expect(await inShort(store)).toEqual(['a 100 to 150: target removed'])
      const again = await openIn(store)
      await again.see(completePoll(200), begins(firing(200)))
      await store.resetTarget('a', [changeOf('expired', firing(200), 250, 'target reset')])
      expect(await inShort(store)).toEqual(['a 200 to 250: target reset', 'a 100 to 150: target removed'])
      const anew = await openIn(store)
      await anew.see(completePoll(300), begins(firing(300)))
      expect((await inShort(store))[0]).toBe('a 300 to now: null')
    })

    test('is deleted by when alerts ended; one that fires stays', async () => {
      const { store, see } = await withPast([100, 200], [300, 400])
      await see(completePoll(500), begins(firing(500)))
      await store.deleteExpired(CREATED + 400)
      expect(await inShort(store)).toEqual(['a 500 to now: null', 'a 300 to 400: resolved'])
      await store.deleteExpired(CREATED + 1e6)
      expect(await inShort(store)).toEqual(['a 500 to now: null'])
    })

    describe('has of its delivery', () => {
      const noted = (since: number, ...notes: readonly object[]): EpisodeNote => ({
        target: 'a',
        key: 'NoGoodPoll',
        since: CREATED + since,
        lines: notes.map((note) => `${JSON.stringify(note)}\n`).join(''),
      })
      const sent = (receiver: string, kind: string, at: number) => ({
        receiver,
        kind,
        at: CREATED + at,
      })

      test('what is noted with a message that told of it, also after its end', async () => {
        const { store, see } = await withPast([50, 60])
        await see(completePoll(100), begins(firing(100)))
        const notes = [noted(100, sent('slack', 'firing', 110)), noted(50, sent('slack', 'resolved', 110))]
        await store.writeNotified({ notes })
        await see(completePoll(200), resolves(firing(100), 200))
        await store.writeNotified({ notes: [noted(100, sent('webhook', 'resolved', 210))] })
        expect((await whole(store)).map(({ notified }) => notified)).toEqual([
          [
            { receiver: 'slack', kind: 'firing', at: time(110) },
            { receiver: 'webhook', kind: 'resolved', at: time(210) },
          ],
          [{ receiver: 'slack', kind: 'resolved', at: time(110) }],
        ])
      })

      test('why it waited, each reason once', async () => {
        const { store, see } = await openAt(newPlace)
        await see(completePoll(100), begins(firing(100)))
        const silence = { by: 'silence', at: CREATED + 101, until: CREATED + 900, silence: 7, reason: 'deploy' }
        await store.noteEpisodes([noted(100, silence)])
        await store.noteEpisodes([noted(100, { ...silence, at: CREATED + 102 }, { by: 'poll_age', at: CREATED + 103 })])
        expect(await whole(store)).toMatchObject([
          {
            notified: [],
            suppressed: [
              { by: 'silence', at: time(101), until: time(900), silence: 7, reason: 'deploy' },
              { by: 'poll_age', at: time(103) },
            ],
          },
        ])
      })

      test('nothing where its row is deleted by then', async () => {
        const { store } = await withPast([100, 200])
        await store.deleteExpired(CREATED + 1e6)
        await store.noteEpisodes([noted(100, sent('slack', 'resolved', 300))])
        expect(await whole(store)).toEqual([])
      })
    })
  })
}
