import { describe, expect, test } from 'vitest'
import { alertOf, type LiveAlert } from '../../../../src/alerts/alert.ts'
import type { Notification } from '../../../../src/alerts/notification.ts'
import type { Silence } from '../../../../src/alerts/match.ts'
import {
  firingAmong,
  suppressing,
  type Fired,
  type Inhibition,
  type Mute,
} from '../../../../src/notifications/delivery/suppress.ts'
import { POLL_AGE } from '../../../kit/alerts/sample-rules.ts'
import { AT, changeOf, ERRORS, liveAlert, type Named } from '../../../kit/notifications/delivery/sending.ts'

const A = { name: 'A' }
const FIRED = changeOf(A, 'firing', AT)
const utc = (text: string) => Date.parse(text) / 1000

type Setting = {
  mutes?: Mute[]
  inhibit?: Inhibition[]
  silences?: Silence[]
  alerts?: LiveAlert[]
  change?: Notification
}

/** Whether an alert that fires is suppressed. */
function waits(
  now: string | number,
  { mutes = [], inhibit = [], silences = [], alerts = [], change = FIRED }: Setting = {},
): boolean {
  const at = typeof now === 'string' ? utc(now) : now
  return suppressing({ mutes, inhibit, silences, fired: [change, ...firingAmong(alerts)] })().at(change, at).length > 0
}

describe('a mute applies from its start on, and for its duration', () => {
  const nightly: Mute = { start: '0 22 * * *', duration: 8 * 3600, timezone: 'UTC', match: {} }
  const berlin = { ...nightly, timezone: 'Europe/Berlin' }
  const saturday: Mute = { start: '0 0 * * 6', duration: 2 * 86_400, timezone: 'Europe/Berlin', match: {} }
  const early: Mute = { start: '30 2 * * *', duration: 3600, timezone: 'Europe/Berlin', match: {} }
  const often: Mute = { start: '*/15 * * * *', duration: 3600, timezone: 'UTC', match: {} }

  test.each<[string, Mute, string, boolean]>([
    ['before it', nightly, '2026-11-20T21:59:59Z', false],
    ['at its start', nightly, '2026-11-20T22:00:00Z', true],
    ['over midnight', nightly, '2026-11-21T02:00:00Z', true],
    ['in its last second', nightly, '2026-11-21T05:59:59Z', true],
    ['at its end', nightly, '2026-11-21T06:00:00Z', false],
    ['in its time zone: before it', berlin, '2026-11-20T20:59:59Z', false],
    ['in its time zone: at its start', berlin, '2026-11-20T21:00:00Z', true],
    ['in its time zone in summer: at its start', berlin, '2026-07-20T20:00:00Z', true],
    ['in its time zone in summer: at its end', berlin, '2026-07-21T04:00:00Z', false],
    ['in the night in which the clocks go back it lasts as long: before its end', berlin, '2026-10-25T03:59:59Z', true],
    ['in the night in which the clocks go back it lasts as long: at its end', berlin, '2026-10-25T04:00:00Z', false],
    ['over a weekend: on Friday', saturday, '2026-11-20T22:59:59Z', false],
    ['over a weekend: on Sunday', saturday, '2026-11-22T22:59:59Z', true],
    ['over a weekend: on Monday', saturday, '2026-11-22T23:00:00Z', false],
    ['at a time that comes twice: the first', early, '2026-10-25T00:30:00Z', true],
    ['at a time that comes twice: not the second', early, '2026-10-25T01:30:00Z', false],
    ['at a time that the clocks leave out: not before they are set', early, '2026-03-29T00:59:59Z', false],
    ['at a time that the clocks leave out: when they are set', early, '2026-03-29T01:00:00Z', true],
    ['that starts again before its end: without a gap', often, '2026-11-20T08:59:59Z', true],
  ])('%s', (_case, mute, now, holds) => {
    expect(waits(now, { mutes: [mute] })).toBe(holds)
  })

  test('for what it matches only', () => {
    const ofCritical = { ...nightly, match: { severity: 'critical' } }
    const now = '2026-11-20T23:00:00Z'
    expect(waits(now, { mutes: [ofCritical] })).toBe(false)
    expect(waits(now, { mutes: [ofCritical], change: { ...FIRED, severity: 'critical' } })).toBe(true)
    expect(waits(now, { mutes: [ofCritical, nightly] })).toBe(true)
  })
})

describe('a target that cannot be polled', () => {
  const noPoll = { name: POLL_AGE.name }
  const change = changeOf(noPoll, 'firing', AT)
  const live = liveAlert(noPoll, change)
  const inState = (state: 'pending' | 'firing' | 'recovering') => [{ ...live, instance: { ...live.instance, state } }]

  test.each([
    ['firing', true],
    ['recovering', true],
    ['pending', false],
  ] as const)('suppresses its other alerts while that is %s: %s', (state, holds) => {
    expect(waits(AT, { alerts: inState(state) })).toBe(holds)
  })

  test('suppresses neither the alert on poll_age nor other targets', () => {
    expect(waits(AT, { alerts: inState('firing'), change })).toBe(false)
    expect(waits(AT, { alerts: inState('firing'), change: { ...FIRED, target: 'staging' } })).toBe(false)
  })

  test('is not shown by other alerts', () => {
    expect(waits(AT, { alerts: [liveAlert(A, FIRED)] })).toBe(false)
  })
})

describe('an alert is inhibited by', () => {
  const CRITICAL = { name: 'Critical', severity: 'critical' as const }
  const fires = (named: Named, differing: Partial<Notification> = {}, state: 'pending' | 'firing' = 'firing') => {
    const live = liveAlert(named, changeOf(named, 'firing', AT, undefined, differing))
    const rule = { ...live.instance.rule, match: differing.match ?? {} }
    return { ...live, instance: { ...live.instance, rule, state } }
  }
  const VIDEO = { labels: { type: 'video' } }

  test.each<[string, LiveAlert, boolean]>([
    ['one of a higher severity', fires(CRITICAL), true],
    ['none that is pending', fires(CRITICAL, {}, 'pending'), false],
    ['none of the same severity', fires({ name: 'B' }), false],
    ['none of a lower severity', fires({ name: 'B', severity: 'info' }), false],
    ['none of another target', fires({ ...CRITICAL, target: 'staging' }), false],
    ['none of other calls', fires(CRITICAL, VIDEO), false],
    ['none of other calls that its rule matches', fires(CRITICAL, { match: { mode: 'call' } }), false],
    [
      'none that breaches on the other side',
      {
        ...fires(CRITICAL),
        instance: { ...fires(CRITICAL).instance, rule: { ...fires(CRITICAL).instance.rule, breach: 'below' } },
      },
      false,
    ],
    ['none of another signal', fires(CRITICAL, { signal: { name: 'calls_started', window: 900 } }), false],
    ['one of another window', fires(CRITICAL, { signal: { name: 'calls_finished', window: 60 } }), true],
    ['not itself', fires(A), false],
  ])('%s', (_case, other, holds) => {
    expect(waits(AT, { alerts: [fires(A), other] })).toBe(holds)
  })

  test('one of the same calls, whether its rule matches them or is grouped by them', () => {
    const change = { ...FIRED, labels: { type: 'video' } }
    expect(waits(AT, { change, alerts: [fires(CRITICAL, { match: { type: 'video' } })] })).toBe(true)
  })

  const rule = (given: Partial<Inhibition>): Inhibition => ({ sourceMatch: {}, targetMatch: {}, equal: [], ...given })
  const other = fires({ name: 'B', target: 'staging' }, VIDEO)
  test.each<[string, Inhibition, boolean]>([
    ['what a rule names', rule({ sourceMatch: { target: 'staging' }, targetMatch: { alert: 'A' } }), true],
    ['by no rule about others', rule({ sourceMatch: { alert: 'C' }, targetMatch: { alert: 'A' } }), false],
    ['by no rule of which it is the source', rule({ sourceMatch: { alert: 'A' }, targetMatch: { alert: 'B' } }), false],
    [
      'by no rule whose labels differ',
      rule({ sourceMatch: { alert: 'B' }, targetMatch: { alert: 'A' }, equal: ['target'] }),
      false,
    ],
    [
      'where neither has the label',
      rule({ sourceMatch: { alert: 'B' }, targetMatch: { alert: 'A' }, equal: ['mode'] }),
      true,
    ],
    [
      'where only one has the label',
      rule({ sourceMatch: { alert: 'B' }, targetMatch: { alert: 'A' }, equal: ['type'] }),
      false,
    ],
    ['by no rule by which each inhibits the other', rule({}), false],
  ])('%s', (_case, inhibition, holds) => {
    expect(waits(AT, { inhibit: [inhibition], alerts: [fires(A), other] })).toBe(holds)
  })

  test('none that its receiver is not notified of, but what a rule names all the same', () => {
    const by = (inhibit: Inhibition[]) => {
      const fired = firingAmong([fires(A), fires(CRITICAL)])
      const isSent = ({ severity }: { severity: string }) => severity !== 'critical'
      return suppressing({ mutes: [], silences: [], inhibit, fired })(isSent).at(FIRED, AT)
    }
    expect(by([])).toEqual([])
    expect(by([rule({ sourceMatch: { severity: 'critical' }, targetMatch: { alert: 'A' } })])).toHaveLength(1)
  })

  test('none where a rule says the contrary of the severities', () => {
    const contrary = rule({ sourceMatch: { alert: 'A' }, targetMatch: { alert: 'Critical' } })
    expect(waits(AT, { inhibit: [contrary], alerts: [fires(A), fires(CRITICAL)] })).toBe(false)
  })

  test('an alert that is inhibited is noted with the one that inhibits it', () => {
    const inhibit = [rule({ sourceMatch: { alert: 'B' }, targetMatch: { alert: 'A' } })]
    const fired = firingAmong([fires(A), fires(CRITICAL), other])
    expect(suppressing({ mutes: [], silences: [], inhibit, fired })().at(FIRED, AT)).toEqual([
      { by: 'inhibition', at: AT, since: AT, alert: 'Critical' },
      { by: 'inhibition', at: AT, since: AT, alert: 'B', target: 'staging' },
    ])
  })
})

describe('the time that nothing suppressed an alert', () => {
  const DAY = 86_400
  const nightly: Mute = { start: '0 22 * * *', duration: 8 * 3600, timezone: 'UTC', match: {} }
  const silence = (from: number, until: number, differing: Partial<Silence> = {}): Silence => {
    return { id: 1, match: {}, since: AT + from, until: AT + until, reason: '', ...differing }
  }
  const fired = (named: Named, from: number, until?: number): Fired => {
    const one = alertOf(liveAlert(named, changeOf(named, 'firing', AT + from)))
    return { ...one, firingSince: AT + from, ...(until !== undefined && { until: AT + until }) }
  }
  const CRITICAL = { name: 'Critical', severity: 'critical' } as const
  const NO_POLL = { name: POLL_AGE.name }
  const ofErrors = fired({ name: ERRORS }, 0)

  test.each<[string, number, Partial<Parameters<typeof suppressing>[0]>, [from: number, to: number]?, Fired?]>([
    ['is all of it if nothing did', 100, {}],
    ['is none if something did throughout', 0, { silences: [silence(-10, 110)] }],
    ['is what is before and after', 40, { silences: [silence(20, 80)] }],
    ['is that between two', 20, { silences: [silence(-10, 40), silence(60, 200)] }],
    ['counts periods once that overlap, one in the other', 30, { silences: [silence(10, 80), silence(20, 30)] }],
    ['counts periods once that overlap', 20, { silences: [silence(30, 90), silence(10, 50)] }],
    ['ignores what was over before, and begins later', 100, { silences: [silence(-50, 0), silence(101, 200)] }],
    ['of days is without each night', 3 * 16 * 3600, { mutes: [nightly] }, [0, 3 * DAY]],
    [
      'is by what a silence matched at each time',
      60,
      { silences: [silence(0, 100, { match: { alert: 'B' }, earlier: [{ until: AT + 40, match: { alert: 'A' } }] })] },
    ],
    [
      'is by what a silence matches since it was edited',
      40,
      { silences: [silence(0, 100, { match: { alert: 'A' }, earlier: [{ until: AT + 40, match: { alert: 'B' } }] })] },
    ],
    ['is without that in which an alert inhibited it that has ended', 70, { fired: [fired(CRITICAL, 20, 50)] }],
    ['is none while one inhibits it that fires', 20, { fired: [fired(CRITICAL, 20)] }],
    ['is none while its target is not polled', 50, { fired: [fired(NO_POLL, 10, 60)] }],
    [
      'of failed requests is none until their window is past it',
      10,
      { fired: [fired(NO_POLL, 10, 60)] },
      [0, 960],
      ofErrors,
    ],
    ['of failed requests goes on after their window', 50, { fired: [fired(NO_POLL, 10, 60)] }, [0, 1000], ofErrors],
    ['of polls is not without polls', 100, { fired: [fired(NO_POLL, 0)] }, [0, 100], fired(NO_POLL, 0)],
  ])('%s: %i s', (_what, expected, suppressors, [from, to] = [0, 100], alert = FIRED) => {
    const { freeSeconds } = suppressing({
      mutes: [],
      inhibit: [],
      silences: [],
      ...suppressors,
      fired: [alert, ...(suppressors.fired ?? [])],
    })()
    expect(freeSeconds(alert, AT + from, AT + to)).toBe(expected)
  })

  test('ends a silence at its end, not before', () => {
    const silences = [silence(0, 10)]
    expect([AT, AT + 9, AT + 10].map((at) => waits(at, { silences }))).toEqual([true, true, false])
  })
})
