import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { isoTime } from '../../../../src/clock/times.ts'
import type { PastAlert } from '../../../../src/views/alert.ts'
import { AlertBody, AlertFacts } from '../../../../src/web/page/components/alerts/alert.tsx'
import { AlertTimeline } from '../../../../src/web/page/components/alerts/alert-timeline.tsx'
import {
  addressOfAlert,
  alertOf,
  loadAlert,
  valueChart,
  valueIn,
  type Breakdown,
  type Row,
} from '../../../../src/web/page/model/alerts/alert-page.ts'
import type { Alert, Call, Point, Silence } from '../../../../src/web/page/model/api.ts'
import { change, current, type State } from '../../../../src/web/page/model/state.ts'
import { firing, NOW, POLLED, RATIO_RULE } from '../../../kit/metrics/hand-made-target.ts'
import { shownTarget } from '../../../kit/web/serve.ts'
import { POLL_AGE } from '../../../kit/alerts/sample-rules.ts'
import { amid, render, stateOf, textOf, withoutBrowser } from './render-text.ts'

beforeEach(() => void vi.stubEnv('TZ', 'UTC'))
afterEach(() => void vi.unstubAllEnvs())

/** When the hand-made alert began to fire. */
const SINCE = NOW - 60

const POINT = {
  calls: { ended: 0, unanswered: 0, rejected: 0, canceled: 0, other: 0, lost: 0 },
  minutes: { audio: 0, video: 0 },
  participant_minutes: { audio: 0, video: 0 },
  duration_seconds: { mean: null, p50: null, p95: null },
  answer_delay_seconds: { p50: null, p95: null },
}

/** It ended early. */
const SILENCE: Silence = {
  id: 7,
  match: {},
  until: isoTime(NOW - 2),
  since: isoTime(NOW - 3600),
  reason: 'a load test',
  author: 'ann',
  edits: 0,
}

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
  rule: 'more than 30% of the calls in the last 15m failed',
  calls_url: '/api/v1/calls?target=production&status=rejected&since=2026-09-21T13:00:00Z&until=2026-09-21T14:13:20Z',
  // A chart needs a browser.
  values: [],
  notified: [{ receiver: 'slack', kind: 'firing', at: isoTime(SINCE + 20) }],
  refused: [],
  suppressed: [{ by: 'silence', at: isoTime(SINCE), until: isoTime(NOW), silence: 7, reason: 'a load test' }],
  blind: [],
  runbook_url: '/runbooks/HighFailureRate',
  ...differing,
})

const NO_AMOUNTS = { calls: 0, failure_ratio: null, participant_minutes: 0, user_minutes: 0 }
const row = (type: string, ended: number, rejected: number): Row => ({
  type,
  mode: 'call',
  receiver_type: 'user',
  calls: { total: ended + rejected, ended, unanswered: 0, rejected, canceled: 0, other: 0, lost: 0 },
  minutes: { audio: 0, video: 0 },
  user_minutes: 0,
  participant_minutes: { audio: 0, video: 0, total: 0 },
  duration_seconds: { mean: null, p50: null, p95: null },
  failure_ratio: rejected / (ended + rejected),
  invited: { joined: ended, absent: rejected, unknown: 0 },
  not_joined_ratio: rejected / (ended + rejected),
  noticed_late: 0,
  blind_seconds: 0,
  compared: { targets: 0, days: 0, known_days: 0, now: NO_AMOUNTS, before: NO_AMOUNTS },
})

const besides = (now: Row[], lastWeek: Row[] = [], isPart = false): Breakdown => ({ now, lastWeek, isPart })

function shown(
  alert: PastAlert | undefined,
  breakdown: Breakdown | null = besides([]),
  differing: Partial<State> = {},
) {
  const target = shownTarget({ rules: [RATIO_RULE], alerts: [firing(RATIO_RULE)], sync: POLLED })
  const query = new URLSearchParams({ target: 'production', alert: RATIO_RULE.name })
  const alertPage = { request: '', answer: { alert, breakdown }, problem: undefined, asOf: isoTime(NOW) }
  return stateOf([target], { view: 'alert', query, alertPage, ...differing })
}

/** What is said of an alert besides its rule. */
const linesOf = (state: State) =>
  render(AlertFacts, state).flatMap(({ type, text }) => (type === 'p' && !text.startsWith('Rule:') ? [text] : []))
const rendered = (state: State) => [AlertFacts, AlertBody].flatMap((part) => render(part, state))
const texts = (state: State, id: string) => textOf(rendered(state), { id })

describe('the page of an alert', () => {
  test('shows its state, age, value, threshold, peak and calls, and links to calls, runbook and silence', () => {
    const elements = rendered(shown(fired()))
    expect(textOf(elements, { class: 'facts' })).toBe(
      'State firing warning Since 14:10:20 UTC 3m Value 42.5% of 40 calls in 15m; peak 50% Threshold above 30% ' +
        'clears at 20% Signal failure_ratio 15m Notified slack 14:12:40',
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
      'State resolved warning Fired 11:43:20 UTC 10m Until 11:53:20 UTC Peak 50% Threshold above 30% ' +
        'Signal failure_ratio 15m Notified slack 14:12:40',
    )
    expect(elements.some(({ props }) => String(props['href']).endsWith('#silences'))).toBe(false)
    expect(textOf(elements, { id: 'alert-facts' })).toContain('Now it is firing.')
  })

  test('says that no such alert fired, and that a pending one has not fired yet, or never did', () => {
    const note = (asked: Record<string, string>) => {
      const query = new URLSearchParams({ target: 'production', ...asked })
      return texts(shown(undefined, besides([]), { query }), 'alert-note')
    }
    const since = isoTime(NOW - 9000)
    expect(note({ alert: 'Other', since })).toBe('No such alert fired then, or it has expired from the history.')
    // As the address of a pending one is, which has gone.
    const quiet = shown(undefined, besides([]), { snapshot: stateOf([shownTarget({ rules: [RATIO_RULE] })]).snapshot })
    expect(texts(quiet, 'alert-note')).toBe('It is neither pending nor firing, and has not fired in 7 days.')
    expect(note({ alert: 'Other' })).toBe('production has no rule Other.')
    expect(note({ alert: 'Other', target: 'gone' })).toBe('There is no target gone, or no daemon has loaded it yet.')
    expect(note({ alert: RATIO_RULE.name })).toBe('Its history is not loaded yet.')
    const pending = { ...firing({ ...RATIO_RULE, for: 300 }), state: 'pending' as const, credited: 180 }
    const target = shownTarget({ rules: [RATIO_RULE], alerts: [pending], sync: POLLED })
    const { view, query, alertPage } = shown(undefined)
    const noteAt = (now: number) => {
      const state = stateOf([target], { view, query, alertPage })
      state.snapshot!.now = isoTime(now)
      return texts(state, 'alert-note')
    }
    const said = 'Pending: above 30% since 14:10:20 UTC. It fires '
    expect(noteAt(NOW)).toBe(`${said}at about 14:15:20 UTC if it stays so.`)
    expect(noteAt(NOW + 600)).toBe(`${said}after the next poll if it stays so.`)
  })

  test('is found by the second in which the alert fired, as commands print it', async () => {
    withoutBrowser()
    const alert = fired({ since: isoTime(NOW - 59.321), until: isoTime(NOW), outcome: 'resolved' })
    const asked = vi
      .fn<(path: string) => Promise<Response>>()
      .mockImplementation(async () => Response.json({ alerts: [alert], points: [] }))
    vi.stubGlobal('fetch', asked)
    const query = new URLSearchParams({ target: 'production', alert: RATIO_RULE.name, since: '2026-09-21T14:12:20Z' })
    change({ ...shown(undefined), query })
    await loadAlert()
    expect(asked.mock.calls[0]?.[0]).toContain('since=2026-09-21T14%3A12%3A20Z&until=2026-09-21T14%3A12%3A21Z')
    expect(current().alertPage.answer?.alert).toEqual(alert)
    query.set('since', alert.since)
    await loadAlert()
    expect(current().alertPage.answer?.alert).toEqual(alert)
    const firing = shown(undefined, null, {
      query: new URLSearchParams({ ...Object.fromEntries(query), since: '2026-09-21T14:12:20Z' }),
    })
    firing.snapshot!.alerts = firing.snapshot!.alerts.map((one) => ({ ...one, firing_since: alert.since }))
    expect(alertOf(firing).live).toBeDefined()
  })

  test('never shows a peak that is less extreme than the value, although what is loaded is older', () => {
    const at = (value: number, peak: number, breach: 'above' | 'below') => {
      const state = shown(fired({ breach, peak: 0.4 }))
      state.snapshot!.alerts = state.snapshot!.alerts.map((alert) => ({ ...alert, breach, value, peak }))
      return textOf(rendered(state), { class: 'facts' })
    }
    expect(at(0.6, 0.6, 'above')).toContain('Value 60% of 40 calls in 15m; peak 60% ')
    expect(at(0.2, 0.1, 'below')).toContain('Value 20% of 40 calls in 15m; lowest 10% ')
  })

  test('has the description of its rule while its value is beyond the threshold, never after its end, and when the rule fires', () => {
    const texts = (alert: PastAlert | undefined, live: Partial<Alert>) => {
      const state = shown(alert)
      state.snapshot!.alerts = state.snapshot!.alerts.map((one) => ({ ...one, ...live }))
      return render(AlertFacts, state).flatMap(({ type, text }) => (type === 'p' ? [text] : []))
    }
    const past = fired({ description: 'Many fail.' })
    expect(texts(past, { value: 0.35, description: '35% of them fail.' }).slice(-2)).toEqual([
      '35% of them fail.',
      'Rule: more than 30% of the calls in the last 15m failed.',
    ])
    expect(texts(past, { value: 0.25 })).not.toContain('Many fail.')
    const over = fired({ until: isoTime(NOW - 60), outcome: 'resolved', description: 'Many fail.' })
    const ended = shown(over, null, { query: new URLSearchParams({ target: 'production', alert: RATIO_RULE.name, since: over.since }) }) // oxfmt-ignore
    ended.snapshot!.alerts = []
    const said = textOf(render(AlertFacts, ended), { id: 'alert-facts' })
    expect(said).toContain('Rule: more than 30% of the calls in the last 15m failed.')
    expect(said).not.toContain('Many fail.')
    expect(texts(undefined, { value: 0.35, description: '35% of them fail.' })).toContain('35% of them fail.')
  })

  test('says of a value within the threshold what clears it', () => {
    const lines = (differing: Partial<Alert>) => {
      const state = shown(fired())
      state.snapshot!.alerts = state.snapshot!.alerts.map((alert) => ({ ...alert, ...differing }))
      return linesOf(state)
    }
    expect(lines({ value: 0.25 }).at(-1)).toBe(
      '25%: no longer above the threshold of 30%, but not resolved yet. It clears at 20% or less.',
    )
    expect(lines({ value: 0.1, state: 'recovering' }).at(-1)).toBe(
      'The value has cleared: the alert resolves if it stays at 20% or less.',
    )
    expect(lines({ value: 0.5, breach: 'below', clear: 0.6 }).at(-1)).toBe(
      '50%: no longer below the threshold of 30%, but not resolved yet. It clears at 60% or more.',
    )
    expect(lines({ value: 0.35 })).toHaveLength(1)
  })

  test('says what to do next besides the buttons: most of its failed calls, its charts, its target, its runbook, and its silence', () => {
    const steps = (state: State) =>
      render(AlertBody, state)
        .filter(({ type, text }) => type === 'a' && /^(?:See|Open|Follow|Silence|Change)/.test(text))
        .map(({ props, text }) => [text, props['href']])
    const rows = [row('audio', 9, 1), row('video', 4, 6)]
    const found = steps(shown(fired({ match: { mode: 'call' } }), besides(rows)))
    expect(found.map(([text]) => text)).toEqual([
      'See most of its failed calls video call user: 6 of 10 failed',
      'See its charts before and after',
      'Open production its polls, alerts and calls now',
      'Follow the runbook what it means, and what helps',
    ])
    expect(found[0]?.[1]).toMatch(/&type=video&mode=call&receiver_type=user#calls$/)
    // With the filter of its rule, so that its threshold applies.
    expect(found[1]?.[1]).toBe('./?target=production&mode=call#charts')
    // Half of them are not most.
    const half = steps(shown(fired(), besides([...rows, row('other', 0, 5)])))
    expect(half[0]?.[0]).toBe('See the largest group of its failed calls video call user: 6 of 10 failed')
    // An alert that is not about calls, and has ended.
    const ended = { since: isoTime(NOW - 9000), until: isoTime(NOW - 8400), outcome: 'resolved' } as const
    const { calls_url: _, runbook_url: __, ...other } = fired({ ...ended, alert: 'Mine', signal: 'poll_age' })
    const state = shown(other)
    state.snapshot!.targets.at(0)!.problem = 'no answer'
    expect(steps(state)).toEqual([['Open production no answer', './?target=production']])
    expect(steps(shown({ ...other, signal: 'budget_minutes' }))[0]).toEqual([
      'See the usage of this month by day',
      './?target=production&by=day#usage',
    ])
    const silenced = shown(fired())
    silenced.snapshot!.alerts = silenced.snapshot!.alerts.map((alert) => ({ ...alert, silences: [7] }))
    silenced.snapshot!.silences = [{ ...SILENCE, until: isoTime(NOW + 3600) }]
    expect(steps(silenced).at(-1)?.[0]).toBe('Change its silence it ends at 15:13:20 UTC')
  })

  test('says what happened in order: the breach, the peak, who was notified, and what was withheld by whom and why', () => {
    const state = shown(
      fired({
        values: [{ at: isoTime(SINCE + 10), value: 0.5 }],
        blind: [{ since: isoTime(SINCE + 30), until: isoTime(SINCE + 40) }],
        notified: [
          { receiver: 'slack', kind: 'firing', at: isoTime(SINCE + 20) },
          { receiver: 'pager', kind: 'firing', at: isoTime(SINCE + 25) },
          { receiver: 'slack', kind: 'resolved', at: isoTime(SINCE + 50) },
        ],
        refused: [{ receiver: 'mail', problem: 'it answered 550', at: isoTime(SINCE + 45) }],
        suppressed: [
          { by: 'silence', at: isoTime(SINCE), until: isoTime(NOW), silence: 7, reason: 'a load test' },
          { by: 'mute', at: isoTime(SINCE), until: isoTime(NOW) },
        ],
      }),
    )
    state.snapshot!.silences = [SILENCE, { ...SILENCE, id: 8, since: isoTime(NOW - 5), author: 'bo', reason: '' }]
    const suppressed = [{ by: 'silence' as const, silence: 8 }, { by: 'mute' as const }]
    state.snapshot!.alerts = state.snapshot!.alerts.map((alert) => ({ ...alert, suppressed }))
    state.pastAlerts = [fired({ alert: 'Worse', key: 'Worse', severity: 'critical', since: isoTime(SINCE + 5) })]
    const items = (of: State) => render(AlertTimeline, of).flatMap(({ type, text }) => (type === 'li' ? [text] : []))
    expect(items(state)).toEqual([
      '14:10:20 pending : the value is above 30%',
      '14:12:20 silenced until 14:13 by ann: a load test',
      '14:12:20 muted until 14:13',
      '14:12:20 fired , warning',
      '14:12:25 escalated : Worse, critical',
      '14:12:30 peak 50%',
      '14:12:40 notified slack',
      '14:12:45 notified pager',
      '14:12:50 not seen for 10s',
      '14:13:05 not notified mail: it answered 550',
      '14:13:10 notified slack: resolved',
      '14:13:15 silenced until 14:13 by bo',
    ])
    // A silence that is not known any more.
    state.snapshot!.silences = []
    expect(items(state)[1]).toBe('14:12:20 silenced until 14:13: a load test')
    const pending = shown(undefined)
    expect(items(pending)).toEqual(['14:10:20 pending : the value is above 30%'])
    const ended = shown(fired({ since: isoTime(NOW - 9000), until: isoTime(NOW - 8400), outcome: 'resolved' }))
    expect(texts(ended, 'alert-timeline')).toMatch(/11:53:20 resolved/)
  })

  test('says which receiver fails, so that the notification waits', () => {
    const failing = (differing: Partial<PastAlert>, since: number) => {
      const state = shown(fired({ notified: [], suppressed: [], ...differing }))
      const problem = 'Slack answered 503'
      const slack = { name: 'slack', pending: 1, failing_since: isoTime(since), problem }
      state.snapshot!.receivers = [
        { ...slack, next_attempt: isoTime(NOW + 30) },
        { ...slack, name: 'pager' },
      ]
      delete state.snapshot!.receivers.at(1)!.failing_since
      return [texts(state, 'alert-timeline'), textOf(rendered(state), { class: 'facts' })]
    }
    const step = ' 14:12:20 slack fails: Slack answered 503; the next attempt is at 14:13:50'
    const [steps, facts] = failing({}, NOW - 600)
    expect(steps).toContain(step)
    // What it refuses may be another message.
    expect(steps).not.toContain('pager')
    expect(facts).toMatch(/ Notified not yet slack fails since 14:03:20$/)
    const quiet = shown(fired({ notified: [] }))
    expect(textOf(rendered(quiet), { class: 'facts' })).toMatch(/ Notified nobody$/)
    expect(failing({}, NOW - 5)[0]).toContain(step.replace('14:12:20', '14:13:15'))
    const { notified } = fired()
    expect(failing({ notified }, NOW - 5)[1]).toMatch(/ Notified slack 14:12:40$/)
    const ended = { since: isoTime(NOW - 9000), until: isoTime(NOW - 8400), outcome: 'resolved' } as const
    expect(failing(ended, NOW - 600)[1]).toMatch(/ Notified nobody$/)
  })

  test('is a sentence: that of its incident, or how bad it is now, or was', () => {
    const title = (state: State) => texts(state, 'alert-title')
    const state = shown(fired())
    expect(title(state)).toBe('production: 42.5% of 40 calls failed in 15 minutes, mostly rejected')
    const ended = fired({ since: isoTime(NOW - 9000), until: isoTime(NOW - 8400), outcome: 'resolved' })
    expect(title(shown(ended))).toBe('production: HighFailureRate, peak 50%')
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the title uses of an incident
    const incident = {
      summary: 'As in Slack',
      targets: { firing: 1 },
      worst: [],
      group: { alert: 'HighFailureRate' },
      details: [],
    } as never
    state.snapshot!.incidents = [incident]
    expect(title(state)).toBe('As in Slack')
  })

  test('of missing polls is so since the last successful one, and is silenced with all of its incident', () => {
    const rules = [POLL_AGE, { ...POLL_AGE, name: 'LongOutage', threshold: 900 }]
    const none = { calls: undefined, counts: undefined }
    const alerts = rules.map((rule) => ({ ...firing(rule), ...none, value: 400, evidence: { lastPoll: NOW - 400 } }))
    const target = shownTarget({ rules, alerts, sync: { ...POLLED, lastSuccessHostTime: NOW - 400 } })
    const query = new URLSearchParams({ target: 'production', alert: POLL_AGE.name })
    const state = amid([target], { view: 'alert', query }, () => ({ key: '', labels: {} }))
    state.alertPage = { ...state.alertPage, answer: { alert: undefined, breakdown: undefined } }
    expect(texts(state, 'alert-title')).toBe('production: no successful poll since 14:06:40 UTC')
    expect(textOf(rendered(state), { class: 'facts' })).toContain('Since 14:06:40 UTC 6m 40s')
    expect(texts(state, 'alert-timeline')).toContain('14:06:40 last successful poll 14:10:20 pending')
    const silence = rendered(state).find(({ type, text }) => type === 'a' && text === 'Silence')
    expect(silence?.props['href']).toBe('./?target=production&alert=%3D%7ENoGoodPoll%7CLongOutage#silences')
    const others = amid([target, shownTarget({ target: 'b', alerts })], { view: 'alert', query }, () => ({ key: '', labels: {} })) // oxfmt-ignore
    expect(texts(others, 'alert-title')).toBe('production: no successful poll since 14:06:40 UTC')
  })

  test('says of how many targets it is one, and why: the problem of the target, and the cause of its incident; and how its calls ended', () => {
    const breakdown = besides([row('audio', 9, 1), row('video', 4, 6)], [row('audio', 20, 0), row('video', 19, 1)])
    const state = shown(fired(), breakdown)
    state.snapshot!.targets.at(0)!.problem = 'no answer'
    const details = [
      { about: 'course', text: 'Since then' },
      { about: 'cause', text: 'Cause: no successful poll on 3 targets (503)' },
      // The incident may be about another rule.
      { about: 'others', text: 'Also firing: HighFailureRate on 2 targets' },
    ]
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the cause uses of an incident
    state.snapshot!.incidents = [
      { targets: { firing: 9 }, worst: [], group: { alert: 'HighFailureRate' }, details },
    ] as never
    expect(linesOf(state).slice(1)).toEqual([
      'One of 9 targets: all alerts of the incident',
      'No answer.',
      'Cause: no successful poll on 3 targets (503).',
    ])
    state.snapshot!.targets.at(0)!.problem = '503'
    expect(render(AlertFacts, state).map(({ text }) => text)).not.toContain('503.')
    expect(texts(state, 'alert-outcomes')).toBe(
      'Outcomes 20 calls since 13:00:00, when its first window began Calls by outcome, next to last week Outcome Calls Share Last week ended 13 65% 97.5% rejected 7 35% 2.5%',
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
    expect(texts(state, 'alert-newest')).toMatch(/ 14:13:10 v1.a audio call ended 50s$/)
    const { finished: _, duration_seconds: __, ...open } = times
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the list uses of a call
    state.alertPage.answer!.calls = [{ ...call, ...open, status: 'ongoing' } as Call]
    expect(texts(state, 'alert-newest')).toMatch(/Began \(UTC\) .* 14:12:20 v1.a audio call ongoing 1m so far$/)
    expect(texts(state, 'alert-siblings')).toMatch(
      /Peak HighFailureRate staging 14:12:20 1m 50% NoCalls production 14:12:20 1m 50%$/,
    )
  })

  test('has what is known of last week, as charts do, and says where that is not all of it', () => {
    const calls = (lastWeek: Row[]) =>
      texts(shown(fired(), besides([row('audio', 9, 1)], lastWeek, true)), 'alert-calls')
    expect(calls([row('audio', 4, 6)])).toMatch(
      /, not all calls of last week are known [^]* audio call user 10 1 10% 10 60%$/,
    )
    expect(calls([row('video', 4, 6)])).toMatch(/ audio call user 10 1 10% 0 – video call user 0 0 – 10 60%$/)
    expect(calls([])).toMatch(/, the calls of last week are not known [^]* Ratio audio call user 10 1 10%$/)
  })

  test('shows its calls by type, mode and receiver type next to last week, the most failures first', () => {
    const lastWeek = [row('video', 19, 1), row('other', 2, 0)]
    const breakdown = besides([row('audio', 9, 1), row('video', 4, 6)], lastWeek)
    const shownCalls = (differing: Partial<PastAlert> = {}) => texts(shown(fired(differing), breakdown), 'alert-calls')
    expect(shownCalls()).toContain('Its calls 20 calls finished from 13:00:00 to 14:13:20 UTC, next to last week')
    expect(shownCalls()).toMatch(
      /last week video call user 10 6 60% 20 5% audio call user 10 1 10% 0 – other call user 0 0 – 2 0%$/,
    )
    // None of them was canceled.
    expect(shownCalls({ reason: 'canceled' })).toMatch(/Canceled Ratio [^]* video call user 10 0 0% 20 0%/)
    expect(texts(shown(fired(), null), 'alert-calls')).toContain('The calls could not be loaded.')
  })

  test('says what suppresses it now, and why', () => {
    const state = shown(fired())
    const alert = state.snapshot!.alerts.at(0)!
    state.snapshot!.silences = [{ ...SILENCE, until: isoTime(NOW + 3600) }]
    expect(texts(state, 'alert-suppressed')).toBeUndefined()
    alert.suppressed = [
      { by: 'silence', silence: 7 },
      { by: 'inhibition', alert: 'NoPolls', target: 'staging' },
    ]
    expect(texts(state, 'alert-suppressed')).toBe(
      'Silenced until 15:13 by ann: a load test Inhibited by NoPolls on staging',
    )
    expect(textOf(rendered(state), { class: 'card incident ' })).toContain('State firing')
  })
})

describe('the chart of an alert', () => {
  const values = [
    { at: isoTime(SINCE), value: 0.4 },
    { at: isoTime(SINCE + 60), value: null },
    { at: isoTime(SINCE + 180), value: 0.5 },
  ]
  const chart = (alert: PastAlert, differing: Partial<Parameters<typeof valueChart>[0]> = {}) =>
    valueChart({ alert, around: [], live: undefined, breach: SINCE, now: SINCE + 600, ...differing })

  test('lasts from half an hour before the breach until half an hour after the end, or now', () => {
    const { times, step, complete, unit, title, thresholds } = chart(fired({ values }))
    expect([times[0], times.at(-1), step, complete, unit, title]).toEqual([
      SINCE - 1800,
      SINCE + 600,
      60,
      4,
      'ratio',
      'Failure ratio',
    ])
    expect(thresholds).toEqual([{ name: 'threshold', about: 'above', value: 0.3, severity: 'warning' }])
    const ended = fired({ values, until: isoTime(SINCE + 240) })
    const lastOf = (now: number) => chart(ended, { breach: SINCE - 120, now }).times.at(-1)
    expect([lastOf(SINCE + 9000), lastOf(SINCE + 600)]).toEqual([SINCE + 240 + 1800, SINCE + 600])
    expect(chart(ended, { breach: SINCE - 120 }).times[0]).toBe(SINCE - 1920)
  })

  test.each<Partial<PastAlert>>([{ signal: 'poll_age' }, { signal: 'stuck_calls' }, { relative_to_seconds: 604_800 }])(
    'lasts from the breach until the end where no calls say what the value was before: %j',
    (differing) => {
      const { times } = chart(fired({ values, until: isoTime(SINCE + 240), ...differing }), { breach: SINCE - 120 })
      expect([times[0], times.at(-1)]).toEqual([SINCE - 120, SINCE + 240])
    },
  )

  test('of a rule with `relative_to` has a line of what is usual', () => {
    const expectedOf = (signal: PastAlert['signal']) => {
      const { unit, thresholds } = chart(fired({ values, signal, relative_to_seconds: 604_800 }))
      return [unit, thresholds?.find(({ name }) => name === 'expected')?.value]
    }
    expect(expectedOf('calls_finished')).toEqual(['relative', 1])
    expect(expectedOf('failure_ratio')).toEqual(['difference', 0])
  })

  test('has each value where it was evaluated, so that no line rises before the problem', () => {
    const around = [
      [SINCE - 1740, 0.1],
      [SINCE - 60, 0.3],
    ] as const
    const {
      times,
      series: [line],
    } = chart(fired({ values, blind: [{ since: isoTime(SINCE + 180), until: isoTime(SINCE + 400) }] }), { around })
    expect(times.map((at, i) => [at - SINCE, line?.values[i]])).toEqual([
      [-1800, null],
      [-1740, 0.1],
      [-60, 0.3],
      [0, 0.4],
      [60, null],
      [180, 0.5],
      // Not seen.
      [290, null],
      [600, null],
    ])
  })

  test('has no value for a minute in which its target was not seen', async () => {
    withoutBrowser()
    const alert = fired({ since: isoTime(SINCE), until: isoTime(NOW), outcome: 'resolved' })
    const pointAt = (at: number, ended: number) => {
      const calls = { ended, unanswered: 0, rejected: ended, canceled: 0, other: 0, lost: 0 }
      return { at: isoTime(at), calls }
    }
    const points = [pointAt(SINCE - 180, 5), pointAt(SINCE - 120, 0), pointAt(SINCE, 5)]
    const blind = [{ target: 'production', kind: 'now', since: isoTime(SINCE - 120), until: isoTime(SINCE - 60) }]
    const body = { alerts: [alert], points, step_seconds: 60, coverage: { blind: [] as object[] } }
    vi.stubGlobal('fetch', async () => Response.json(body))
    const query = new URLSearchParams({ target: 'production', alert: RATIO_RULE.name, since: alert.since })
    const load = async () => {
      change({ ...shown(undefined), query })
      await loadAlert()
      return current().alertPage.answer?.around?.map(([at, value]) => [at - SINCE, value])
    }
    expect(await load()).toEqual([
      [-120, 0.5],
      [-60, 0.5],
    ])
    body.coverage.blind = blind
    expect(await load()).toEqual([
      [-120, 0.5],
      [-60, null],
    ])
  })

  /** The page of an alert, as it is loaded of what the API answers, and what it has asked for. */
  async function loaded(alert: PastAlert, body: object = {}) {
    withoutBrowser()
    const asked: string[] = []
    vi.stubGlobal('fetch', async (address: string) => {
      asked.push(address)
      return Response.json({ alerts: [alert], ...body })
    })
    const query = new URLSearchParams({ target: 'production', alert: RATIO_RULE.name, since: alert.since })
    change({ ...shown(undefined), query })
    await loadAlert()
    return { page: current().alertPage.answer, asked }
  }

  test('of missing polls begins at the last one, also with a single value, and ends at the next one', async () => {
    const missing = fired({ signal: 'poll_age', values: [{ at: isoTime(SINCE), value: 300 }] })
    const around = async (alert: PastAlert) =>
      (await loaded(alert)).page?.around?.map(([at, value]) => [at - SINCE, value])
    expect(await around(missing)).toEqual([[-300, 0]])
    const ended = { ...missing, until: isoTime(SINCE + 90) }
    expect(await around({ ...ended, outcome: 'resolved' })).toEqual([
      [-300, 0],
      [90, 0],
    ])
    expect(await around({ ...ended, outcome: 'expired' })).toEqual([[-300, 0]])
  })

  test('of calls that stay open is next to that of all open calls, from before the first of them', async () => {
    const stuck = fired({
      signal: 'stuck_calls',
      longer_than_seconds: 7200,
      match: { mode: 'call' },
      until: isoTime(NOW),
    })
    const points = [0, 60].map((more) => ({ ...POINT, at: isoTime(SINCE + more), in_progress: 5 + more }))
    const body = { points, total: POINT, step_seconds: 60, coverage: { blind: [] } }
    const { page, asked } = await loaded(stuck, body)
    const since = encodeURIComponent(isoTime(NOW - 180 - 7200).replace('.000Z', 'Z'))
    expect(asked.filter((address) => address.includes('series'))).toEqual([
      `api/v1/series?target=production&mode=call&since=${since}&until=${encodeURIComponent(isoTime(NOW))}`,
    ])
    expect(page?.open?.series[0]?.values).toEqual([5, 65])
    expect((await loaded(fired(), body)).page?.open).toBeUndefined()
  })

  test('shows at which value it clears, while it fires', () => {
    const [live] = shown(undefined).snapshot!.alerts
    expect(chart(fired(), { live }).thresholds?.at(-1)).toEqual({
      name: 'clears',
      about: 'at',
      value: 0.2,
      severity: 'other',
    })
    expect(chart(fired({ threshold: 0.2 }), { live }).thresholds?.map(({ name }) => name)).toEqual(['threshold'])
  })

  test('computes a value of its calls as the rule does', () => {
    const minute = (ended: number, rejected: number, unanswered = 0) =>
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what a value is computed of
      ({ calls: { ended, unanswered, rejected, canceled: 0, other: 0, lost: 9 } }) as Point
    const minutes = [minute(6, 1, 1), minute(0, 2)]
    expect(valueIn(fired(), minutes)).toBe(0.4)
    expect(valueIn(fired({ reason: 'rejected' }), minutes)).toBe(0.3)
    expect(valueIn(fired({ min_calls: 11 }), minutes)).toBeNull()
    expect(valueIn(fired({ signal: 'calls_finished' }), minutes)).toBe(10)
  })
})

test('the address of an alert names its target, rule, labels and beginning', () => {
  const alert = { alert: 'HighFailureRate', target: 'production', labels: { type: 'video' } }
  expect(addressOfAlert(alert, isoTime(NOW))).toBe(
    './?target=production&alert=HighFailureRate&type=video&since=2026-09-21T14%3A13%3A20.000Z#alert',
  )
  expect(addressOfAlert(alert, null)).toBe('./?target=production&alert=HighFailureRate&type=video#alert')
})
