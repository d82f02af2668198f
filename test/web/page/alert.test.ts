import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { isoTime } from '../../../src/clock/times.ts'
import type { PastAlert } from '../../../src/views/alert.ts'
import { AlertBody, AlertFacts } from '../../../src/web/page/components/alert.tsx'
import { addressOfAlert, besideLastWeek, valueChart, type Breakdown } from '../../../src/web/page/model/alert-page.ts'
import type { Call } from '../../../src/web/page/model/api.ts'
import type { State } from '../../../src/web/page/model/state.ts'
import { firing, NOW, POLLED, RATIO_RULE } from '../../metrics/hand-made-target.ts'
import { shownTarget } from '../serve.ts'
import { render, stateOf, textOf } from './render-text.ts'

beforeEach(() => void vi.stubEnv('TZ', 'UTC'))
afterEach(() => void vi.unstubAllEnvs())

/** When the hand-made alert began to fire. */
const SINCE = NOW - 60

const fired = (differing: Partial<PastAlert> = {}): PastAlert => ({
  target: 'production',
  alert: RATIO_RULE.name,
  key: RATIO_RULE.name,
  severity: 'warning',
  labels: {},
  signal: 'failure_ratio',
  window_seconds: 900,
  match: {},
  breach: 'above',
  threshold: 0.3,
  since: isoTime(SINCE),
  until: null,
  outcome: null,
  peak: 0.5,
  calls_url: '/api/v1/calls?target=production&status=rejected&since=2026-09-21T13:00:00Z&until=2026-09-21T14:13:20Z',
  // A chart needs a browser.
  values: [],
  notified: [{ receiver: 'slack', kind: 'firing', at: isoTime(SINCE + 20), outcome: 'sent' }],
  suppressed: [{ by: 'silence', at: isoTime(SINCE), until: isoTime(NOW), silence: 7, reason: 'a load test' }],
  blind: [],
  runbook_url: '/runbooks/HighFailureRate',
  ...differing,
})

const row = (type: string, ended: number, rejected: number): NonNullable<Breakdown['now']> => ({
  type,
  mode: 'call',
  receiver_type: 'user',
  calls: { ended, unanswered: 0, rejected, canceled: 0, other: 0, lost: 0 },
  minutes: { audio: 0, video: 0 },
  user_minutes: 0,
  participant_minutes: { audio: 0, video: 0 },
  duration_seconds: { mean: null, p50: null, p95: null },
  failure_ratio: rejected / (ended + rejected),
  noticed_late: 0,
})

function shown(alert: PastAlert | undefined, breakdown: Breakdown[] | null = [], differing: Partial<State> = {}) {
  const target = shownTarget({ rules: [RATIO_RULE], alerts: [firing(RATIO_RULE)], sync: POLLED })
  const query = new URLSearchParams({ target: 'production', alert: RATIO_RULE.name })
  const alertPage = { request: '', answer: { alert, breakdown }, problem: undefined, asOf: isoTime(NOW) }
  return stateOf([target], { view: 'alert', query, alertPage, ...differing })
}

const rendered = (state: State) => [AlertFacts, AlertBody].flatMap((part) => render(part, state))
const texts = (state: State, id: string) => textOf(rendered(state), { id })

describe('the page of an alert', () => {
  test('shows its state, age, value, threshold, peak and calls, and links to calls, runbook and silence', () => {
    const elements = rendered(shown(fired()))
    expect(textOf(elements, { class: 'facts' })).toBe(
      'Signal failure_ratio, 15m State firing warning Since 14:12:20 UTC 1m Threshold above 30% Peak 50% ' +
        'Notified slack Value 42.5% Clears at 20% Calls 40 Next step Follow the runbook',
    )
    const hrefs = elements.flatMap(({ type, props }) => (type === 'a' ? [props['href']] : []))
    expect(hrefs).toEqual(
      expect.arrayContaining([
        './?target=production&status=rejected&since=2026-09-21T13%3A00%3A00Z&until=2026-09-21T14%3A13%3A20Z#calls',
        '/runbooks/HighFailureRate',
        './?target=production&alert=HighFailureRate#silences',
      ]),
    )
  })

  test('shows an alert that has ended by its outcome, although it fires again', () => {
    const ended = fired({ since: isoTime(NOW - 9000), until: isoTime(NOW - 8400), outcome: 'resolved' })
    const elements = rendered(shown(ended))
    expect(textOf(elements, { class: 'facts' })).toBe(
      'Signal failure_ratio, 15m State resolved warning Since 11:43:20 UTC 10m Until 11:53:20 UTC Threshold above 30% Peak 50% Notified slack',
    )
    expect(elements.some(({ props }) => String(props['href']).endsWith('#silences'))).toBe(false)
    expect(textOf(elements, { id: 'alert-facts' })).toContain('Now it is firing.')
  })

  test('says that no such alert fired, and that a pending one has not fired yet', () => {
    const none = shown(undefined, [], { query: new URLSearchParams({ target: 'production', alert: 'Other' }) })
    expect(texts(none, 'alert-note')).toContain('No such alert fired then')
    const pending = { ...firing(RATIO_RULE), state: 'pending' as const, firingSince: undefined }
    const target = shownTarget({ rules: [RATIO_RULE], alerts: [pending], sync: POLLED })
    const { view, query, alertPage } = shown(undefined)
    expect(texts(stateOf([target], { view, query, alertPage }), 'alert-note')).toContain('It has not fired yet')
  })

  test('says what happened in order: the breach, the peak, who was notified, and what was withheld by whom and why', () => {
    const state = shown(
      fired({
        values: [{ at: isoTime(SINCE + 10), value: 0.5 }],
        blind: [{ since: isoTime(SINCE + 30), until: isoTime(SINCE + 40) }],
        notified: [
          { receiver: 'slack', kind: 'firing', at: isoTime(SINCE + 20), outcome: 'sent' },
          { receiver: 'pager', kind: 'firing', at: isoTime(SINCE + 25), outcome: 'dropped' },
        ],
      }),
    )
    const silence = { id: 7, match: {}, until: isoTime(NOW), since: isoTime(NOW), reason: '', author: 'ann', edits: 0 }
    state.snapshot!.silences = [silence]
    state.pastAlerts = [fired({ alert: 'Worse', key: 'Worse', severity: 'critical', since: isoTime(SINCE + 5) })]
    const items = rendered(state).flatMap(({ type, text }) => (type === 'li' ? [text] : []))
    expect(items).toEqual([
      '14:10:20 above 30%',
      '14:12:20 fired, warning',
      '14:12:20 withheld, silence 7 by ann until 14:13:20: a load test',
      '14:12:25 escalated: Worse, critical',
      '14:12:30 peak 50%',
      '14:12:40 notified slack: firing',
      '14:12:45 firing to pager: dropped',
      '14:12:50 not seen for 10s',
    ])
    const ended = shown(fired({ since: isoTime(NOW - 9000), until: isoTime(NOW - 8400), outcome: 'resolved' }))
    expect(texts(ended, 'alert-timeline')).toMatch(/11:53:20 resolved/)
  })

  test('is a sentence: that of its incident, or how bad it is now, or was', () => {
    const title = (state: State) => texts(state, 'alert-title')
    const state = shown(fired())
    expect(title(state)).toBe('production: 42.5% of 40 calls fail')
    const ended = fired({ since: isoTime(NOW - 9000), until: isoTime(NOW - 8400), outcome: 'resolved' })
    expect(title(shown(ended))).toBe('production: HighFailureRate, at most 50%')
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the title uses of an incident
    const incident = { summary: 'As in Slack', targets: { firing: 1 }, worst: [], group: {}, details: [] } as never
    state.snapshot!.incidents = [incident]
    expect(title(state)).toBe('As in Slack')
  })

  test('says why: the problem of the target, and the cause of its incident; and how its calls ended', () => {
    const breakdown = [
      { now: row('audio', 9, 1), lastWeek: row('audio', 20, 0) },
      { now: row('video', 4, 6), lastWeek: row('video', 19, 1) },
    ]
    const state = shown(fired(), breakdown)
    state.snapshot!.status.targets.at(0)!.problem = 'no answer'
    const details = ['Since then', 'Cause: no successful poll on 3 targets (503)']
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the cause uses of an incident
    state.snapshot!.incidents = [{ targets: { firing: 9 }, worst: [], group: {}, details }] as never
    const lines = render(AlertFacts, state).flatMap(({ type, text }) => (type === 'p' ? [text] : []))
    expect(lines.slice(1)).toEqual(['No answer.', 'Cause: no successful poll on 3 targets (503).'])
    expect(texts(state, 'alert-outcomes')).toBe(
      'Outcomes Calls by outcome, next to last week Outcome Calls Share Last week ended 13 65% 97.5% rejected 7 35% 2.5%',
    )
  })

  test('lists its newest calls, and what fired at the same time', () => {
    const call = { target: 'production', call_id: 'v1.a', session_id: 'v1.a', type: 'audio', mode: 'call' } as const
    const times = {
      began: isoTime(NOW - 60),
      finished: isoTime(NOW - 10),
      duration_seconds: 50,
      status: 'ended',
    } as const
    const state = shown(fired())
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the list uses of a call
    state.alertPage.answer!.calls = [{ ...call, ...times } as Call]
    state.pastAlerts = [
      fired(),
      fired({ target: 'staging' }),
      fired({ alert: 'NoCalls', key: 'NoCalls' }),
      fired({ alert: 'NoCalls', key: 'NoCalls', since: isoTime(NOW - 900), until: isoTime(SINCE - 1) }),
      fired({ alert: 'NoCalls', target: 'staging' }),
    ]
    expect(texts(state, 'alert-newest')).toMatch(/ v1.a 14:12:20 14:13:10 audio call ended 50s$/)
    const { finished: _, duration_seconds: __, ...open } = times
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the list uses of a call
    state.alertPage.answer!.calls = [{ ...call, ...open, status: 'ongoing' } as Call]
    expect(texts(state, 'alert-newest')).toMatch(/ v1.a 14:12:20 in progress audio call ongoing 1m so far$/)
    expect(texts(state, 'alert-siblings')).toMatch(
      /Peak NoCalls production 14:12:20 50% HighFailureRate staging 14:12:20 50%$/,
    )
  })

  test('has no row of a kind of last week alone, where not all calls of that are known', () => {
    const [audio, video] = [row('audio', 9, 1), row('video', 4, 6)]
    const lastWeek = new Map([['v', video]])
    const now = new Map([['a', audio]])
    expect(besideLastWeek(now, { isKnown: false, byKind: lastWeek })).toEqual([{ now: audio, lastWeek: null }])
    expect(besideLastWeek(now, { isKnown: true, byKind: lastWeek })).toEqual([
      { now: audio, lastWeek: undefined },
      { now: undefined, lastWeek: video },
    ])
  })

  test('shows its calls by type, mode and receiver type next to last week, the most failures first', () => {
    const breakdown = [
      { now: row('audio', 9, 1), lastWeek: undefined },
      { now: row('video', 4, 6), lastWeek: row('video', 19, 1) },
      { now: undefined, lastWeek: row('other', 2, 0) },
    ]
    const shownCalls = (differing: Partial<PastAlert> = {}) => texts(shown(fired(differing), breakdown), 'alert-calls')
    expect(shownCalls()).toContain('Its calls finished from 13:00:00 to 14:13:20 UTC, next to last week')
    expect(shownCalls()).toMatch(
      /last week video call user 10 6 60% 20 5% audio call user 10 1 10% 0 – other call user 0 0 – 2 0%$/,
    )
    // None of them was canceled.
    expect(shownCalls({ reason: 'canceled' })).toMatch(/Canceled Ratio [^]* video call user 10 0 0% 20 0%/)
    const unknown = texts(shown(fired(), [{ now: row('audio', 9, 1), lastWeek: null }]), 'alert-calls')
    expect(unknown).toMatch(/, not all calls of last week are known [^]* audio call user 10 1 10% – –$/)
    expect(texts(shown(fired(), null), 'alert-calls')).toContain('The calls could not be loaded.')
  })

  test('shows the active silences that match it', () => {
    const state = shown(fired())
    const silence = { id: 7, match: {}, until: isoTime(NOW + 3600), since: isoTime(NOW), reason: 'a load test' }
    const snapshot = {
      ...state.snapshot!,
      silences: [
        { ...silence, author: 'ops', edits: 0 },
        { ...silence, id: 8, edits: 0 },
      ],
      alerts: state.snapshot!.alerts.map((alert) => ({ ...alert, silences: [7] })),
    }
    expect(texts({ ...state, snapshot }, 'alert-silences')).toBe(
      'Silenced every alert until 15:13:20 UTC by ops: a load test (silence 7)',
    )
    expect(texts(state, 'alert-silences')).toBeUndefined()
  })
})

test('the chart of an alert has a step a minute, a gap where nothing was evaluated, and the threshold', () => {
  const { times, step, complete, series, thresholds, unit } = valueChart(
    fired({
      values: [
        { at: isoTime(SINCE), value: 0.4 },
        { at: isoTime(SINCE + 60), value: null },
        { at: isoTime(SINCE + 180), value: 0.5 },
      ],
    }),
  )
  const first = Math.floor(SINCE / 60) * 60
  expect([times, step, complete, unit]).toEqual([[0, 60, 120, 180].map((at) => first + at), 60, 3, 'ratio'])
  expect(series[0]?.values).toEqual([0.4, null, null, 0.5])
  expect(thresholds).toEqual([{ name: 'threshold', about: 'above', value: 0.3, severity: 'warning' }])
})

test('the address of an alert names its target, rule, labels and beginning', () => {
  const alert = { alert: 'HighFailureRate', target: 'production', labels: { type: 'video' } }
  expect(addressOfAlert(alert, isoTime(NOW))).toBe(
    './?target=production&alert=HighFailureRate&type=video&since=2026-09-21T14%3A13%3A20.000Z#alert',
  )
  expect(addressOfAlert(alert, null)).toBe('./?target=production&alert=HighFailureRate&type=video#alert')
})
