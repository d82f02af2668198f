import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Alerts, PastAlerts } from '../../../../src/web/page/components/alerts/alerts.tsx'
import { Feed } from '../../../../src/web/page/components/feed.tsx'
import { FailureRatio, InProgress, Tiles } from '../../../../src/web/page/components/glance.tsx'
import { Table } from '../../../../src/web/page/components/layout.tsx'
import { Banner, Page } from '../../../../src/web/page/components/page.tsx'
import { Overview, TargetFacts, Webhooks } from '../../../../src/web/page/components/targets.tsx'
import { isAllStale, isSyncing } from '../../../../src/web/page/model/notices.ts'
import type { Alert } from '../../../../src/web/page/model/api.ts'
import type { PastAlert } from '../../../../src/views/alert.ts'
import type { FeedLine, State } from '../../../../src/web/page/model/state.ts'
import type { Rule } from '../../../../src/alerts/rule.ts'
import { isoTime } from '../../../../src/clock/times.ts'
import { eventsOf, type LoggedBody } from '../../../../src/events/event.ts'
import type { AlertChange } from '../../../../src/views/alert.ts'
import { firingOf, POLL_AGE, RATIO } from '../../../kit/alerts/sample-rules.ts'
import { finish, firing, NOW, openCall, POLLED, RATIO_RULE } from '../../../kit/metrics/hand-made-target.ts'
import { shownTarget } from '../../../kit/web/serve.ts'
import { amid, render, rowsOf, stateOf, textOf } from './render-text.ts'

beforeEach(() => void vi.stubEnv('TZ', 'UTC'))
afterEach(() => void vi.unstubAllEnvs())

const RULE: Rule = { ...RATIO_RULE, match: { mode: 'call' } }
const BUDGET: Rule = {
  ...RATIO_RULE,
  name: 'Budget',
  signal: { name: 'budget_minutes', of: 'participants', limit: 1000, timezone: 'UTC', cycleDay: 1 },
}
const FINISHED = [finish('ended'), finish('unanswered'), finish('rejected'), finish('canceled'), finish('other')]

/** Two targets with calls; one has an alert. */
const twoTargets = (differing: Partial<State> = {}) =>
  stateOf(
    [
      shownTarget({
        rules: [RULE, BUDGET],
        alerts: [firing(RULE)],
        calls: [openCall('a'), openCall('b', { status: 'initiated', joined: undefined })],
        finished: FINISHED,
        sync: POLLED,
      }),
      shownTarget({ target: 'staging', calls: [openCall('c')], finished: FINISHED, sync: POLLED }),
    ],
    { pastAlerts: [], ...differing },
  )

/** The title, the value and the note of a tile, and how it looks. */
function tileOf(state: State, id: string) {
  const tiles = render(Tiles, state)
  const at = tiles.findIndex(({ props }) => props['id'] === id)
  return [...tiles.slice(at - 1, at + 2).map(({ text }) => text), tiles.at(at)!.props['class']]
}

/** What the reader searches in a list, and from which row on. */
type Searching = { text?: string; is?: string; from?: number }

const searching = (state: State, { text = '', is = '', from = 0 }: Searching): State => {
  const query = new URLSearchParams(state.query)
  if (text !== '') query.set('find', text)
  if (is !== '') query.set('state', is)
  return { ...state, query, shownFrom: from }
}

describe('the alerts of the page', () => {
  test('show an alert with its value, threshold, peak, calls and age', () => {
    expect(rowsOf(render(Alerts, twoTargets()))[1]).toBe(
      'HighFailureRate production firing warning 42.5% above 30% 50% 17 of 40 14:10:20 3m',
    )
  })

  test('are a row for each rule with its worst, and say of how many nobody is notified; those of none are last', () => {
    const critical: Rule = { ...RULE, name: 'VeryHighFailureRate', severity: 'critical' }
    const targets = Array.from({ length: 14 }, (_, i) =>
      shownTarget({
        target: `t${i}`,
        rules: [RULE, critical],
        alerts: [firing(RULE), ...(i < 3 ? [{ ...firing(critical), value: 0.6 + i / 100 }] : [])],
        sync: POLLED,
        ...(i === 2 && { pollAge: 600 }),
      }),
    )
    const state = stateOf(targets)
    const find = (target: string, name: string) =>
      state.snapshot!.alerts.find((one) => one.target === target && one.alert === name)!
    const until = isoTime(NOW + 3600)
    const silenced = [{ by: 'silence', silence: 3, until }] as const
    find('t1', critical.name).suppressed = [...silenced]
    // The worst one is worst also where it is inhibited.
    find('t0', RULE.name).value = 0.7
    find('t0', RULE.name).suppressed = [{ by: 'inhibition', alert: critical.name }]
    find('t5', RULE.name).suppressed = [{ by: 'mute', until: isoTime(NOW + 60) }]
    state.snapshot!.silences = [{ id: 3, match: {}, since: isoTime(NOW), until, author: 'ops', reason: '', edits: 0 }]
    const elements = render(Alerts, state)
    const [, ...lines] = rowsOf(elements)
    const short = lines.map((text) => text.replace(/ above.*/, ''))
    expect(short).toEqual([
      'VeryHighFailureRate 3 of 14 targets 3 firing critical 1 silenced until 15:13 by ops worst: t2 62%',
      'HighFailureRate 14 of 14 targets 14 firing warning 1 inhibited by VeryHighFailureRate, 1 muted until 14:14 worst: t0 70%',
    ])
    expect(elements.filter(({ props }) => String(props['class']).includes('stale'))).toEqual([])
    expect(elements.find(({ props }) => props['class'] === 'old')).toBeUndefined()
    find('t2', critical.name).held = { for: 'polls', since: isoTime(NOW - 60) }
    expect(render(Alerts, state).find(({ props }) => props['class'] === 'old')?.text).toBe('62% at 14:12:20')
    expect(rowsOf(render(Alerts, { ...state, target: 't7' }))[1]).toMatch(/^HighFailureRate t7 firing/)
    const query = new URLSearchParams({ alert: RULE.name })
    expect(
      rowsOf(render(Alerts, { ...state, query }))
        .slice(-2)
        .map((text) => text.replace(/ above.*/, '')),
    ).toEqual(['t0 firing warning inhibited by VeryHighFailureRate 70%', 't5 firing warning muted until 14:14 42.5%'])
    for (const target of ['t0', 't2']) find(target, critical.name).suppressed = [...silenced]
    const classesOf = () =>
      render(Alerts, state).flatMap(({ type, props, text }) =>
        type === 'tr' && text.includes(' of 14 ') ? [[text.replace(/ above.*/, ''), props['class']]] : [],
      )
    expect(classesOf()).toEqual([
      [
        'HighFailureRate 14 of 14 targets 14 firing warning 1 inhibited by VeryHighFailureRate, 1 muted until 14:14 worst: t0 70%',
        'warning',
      ],
      [
        'VeryHighFailureRate 3 of 14 targets 3 firing critical silenced until 15:13 by ops worst: t2 62% at 14:12:20',
        '',
      ],
    ])
    expect(render(Alerts, { ...state, target: 'none' })).toEqual([])
  })

  test('of an incident are below its card, with the failed calls by which they are sorted', () => {
    const critical: Rule = { ...RULE, name: 'VeryHighFailureRate', severity: 'critical' }
    const targets = [24, 30].map((failed, i) => {
      const alerts = [RULE, critical].map((rule) => ({ ...firing(rule), value: failed / 40 }))
      return shownTarget({ target: `t${i}`, rules: [RULE, critical], alerts, sync: POLLED })
    })
    const group = { key: critical.name, labels: { alert: critical.name } }
    const query = new URLSearchParams({ incident: 'alert=VeryHighFailureRate' })
    const state = amid(targets, { view: 'alerts', query }, () => group)
    for (const one of state.snapshot!.alerts)
      if (one.alert === RULE.name) one.suppressed = [{ by: 'inhibition', alert: critical.name }]
    const elements = render(Page, state)
    const texts = (of: string) => elements.flatMap(({ type, text }) => (type === of ? [text] : []))
    expect(texts('h2')).toEqual([state.snapshot!.incidents.at(0)!.summary, '2 targets'])
    expect(texts('article')[0]).toMatch(/Silence Runbook critical Since 14:10:20 UTC ·/)
    // The table has all of its targets.
    expect(texts('article')[0]).not.toMatch(/Most failed calls|All 2 targets/)
    const line = 'VeryHighFailureRate and HighFailureRate 2 firing critical'
    expect(rowsOf(elements).slice(1)).toEqual([
      `t1 ${line} 75% above 30% 50% 30 of 40 14:10:20 3m`,
      `t0 ${line} 60% above 30% 50% 24 of 40 14:10:20 3m`,
    ])
    // The alerts of a rule are those of no incident.
    const ofRule = render(Page, { ...state, query: new URLSearchParams({ alert: RULE.name }) })
    expect(ofRule.filter(({ type }) => type === 'article')).toEqual([])
  })

  test('of a rule are thirty at a time, and are searched where there are more', () => {
    const fired = (count: number) =>
      Array.from({ length: count }, (_, i) => {
        const alert = i < 35 ? firing(RULE) : { ...firing(RULE), state: 'pending' as const }
        return shownTarget({ target: `t${i}`, rules: [RULE], alerts: [alert], sync: POLLED })
      })
    const query = new URLSearchParams({ alert: RULE.name })
    const shown = (count: number, search: Searching = {}) => {
      const elements = render(Alerts, searching(stateOf(fired(count), { query }), search))
      return { rows: rowsOf(elements).length - 1, window: textOf(elements, { class: 'window' }), elements }
    }
    expect(shown(30)).toMatchObject({ rows: 30, window: undefined })
    expect(shown(40)).toMatchObject({ rows: 30, window: '1–30 of 40' })
    expect(shown(40, { from: 30 })).toMatchObject({ rows: 10, window: '31–40 of 40' })
    expect(shown(40, { is: 'pending' })).toMatchObject({ rows: 5, window: '1–5 of 5' })
    const found = shown(40, { text: 'T39' })
    expect([found.rows, textOf(found.elements, { id: 'alerts-title' })]).toEqual([1, 'HighFailureRate: 40 alerts'])
    // Fewer than thirty, the search stays as long as something is searched.
    expect(shown(20, { text: 't1' })).toMatchObject({ rows: 11, window: '1–11 of 11' })
    expect(shown(20, { text: 't' })).toMatchObject({ rows: 20, window: '1–20 of 20' })
    const none = shown(20, { text: 'none' })
    expect(none).toMatchObject({ rows: -1, window: '0–0 of 0' })
    expect(none.elements.at(-1)?.text).toBe('No alert matches.')
  })

  test('name the zone of their times', () => {
    vi.stubEnv('TZ', 'Asia/Kolkata')
    const elements = render(Alerts, twoTargets())
    expect(elements.filter(({ type }) => type === 'th').map(({ text }) => text)).toContain('Since (GMT+5:30)')
    // A card of a phone has less room.
    expect(textOf(elements, { 'data-label': 'Since' })).toBe('19:40:20 3m')
  })
})

describe('the past alerts of the page', () => {
  const past = (since: number, differing: Partial<PastAlert> = {}): PastAlert => ({
    rule: 'more than 30% of the calls failed',
    target: 'production',
    alert: 'HighFailureRate',
    key: 'HighFailureRate{type="video"}',
    severity: 'warning',
    labels: { type: 'video' },
    signal: 'failure_ratio',
    window_seconds: 900,
    match: { mode: 'call' },
    breach: 'above',
    threshold: 0.3,
    since: isoTime(since),
    until: isoTime(since + 600),
    outcome: 'resolved',
    peak: 0.7,
    calls_url: '/api/v1/calls?target=production&status=rejected&since=A&until=B',
    values: [],
    notified: [],
    refused: [],
    suppressed: [],
    blind: [],
    ...differing,
  })
  const sent = { kind: 'firing', at: isoTime(NOW) } as const

  test('show how long each fired, its peak, how it ended and who was notified', () => {
    const suppressed = [{ by: 'silence', at: isoTime(NOW) }] as const
    const notified = [
      { ...sent, receiver: 'slack' },
      { ...sent, receiver: 'slack', kind: 'resolved' as const },
      { ...sent, receiver: 'webhook' },
    ]
    const blind = [{ since: isoTime(NOW), until: isoTime(NOW + 1) }]
    const pastAlerts = [past(NOW - 3600, { notified, suppressed: [...suppressed], blind })]
    const elements = render(PastAlerts, twoTargets({ pastAlerts }))
    expect(rowsOf(elements)[1]).toBe(
      'HighFailureRate production, type=video 13:13:20 10m partly not seen 70% above 30% resolved warning slack, webhook silenced',
    )
    expect(elements.flatMap(({ type, props }) => (type === 'a' ? [props['href']] : []))).toEqual([
      `./?${new URLSearchParams({ target: 'production', alert: 'HighFailureRate', type: 'video', since: isoTime(NOW - 3600) })}#alert`,
    ])
  })

  test('are those of the selected target that have ended, fifty rows at most; without any there is no section', () => {
    const many = Array.from({ length: 51 }, (_, i) => past(NOW - 601 * (i + 1)))
    const pastAlerts = [past(NOW, { until: null, outcome: null }), past(NOW, { target: 'staging' }), ...many]
    const rows = (target: string) => rowsOf(render(PastAlerts, twoTargets({ pastAlerts, target }))).slice(1)
    expect(rows('')).toHaveLength(50)
    expect(rows('staging')).toHaveLength(1)
    expect(render(PastAlerts, twoTargets({ pastAlerts })).find(({ type }) => type === 'span')?.text).toBe(
      'the newest 50 of 52 in the last 7 days',
    )
    const cut = render(PastAlerts, twoTargets({ pastAlerts, isPastCut: true }))
    expect(cut.find(({ type }) => type === 'span')?.text).toBe('the newest 50 of 52 or more in the last 7 days')
    expect(render(PastAlerts, twoTargets({ pastAlerts: pastAlerts.slice(0, 1) }))).toEqual([])
  })

  test('are a row for the alerts of a rule that fired at the same time, which a button opens', () => {
    const other = past(NOW - 700, { alert: 'NoCalls', key: 'NoCalls' })
    const large = Array.from({ length: 60 }, (_, i) =>
      past(NOW - 1200 - 60 * i, { target: `t${i % 40}`, peak: i / 100, notified: [{ ...sent, receiver: 'slack' }] }),
    )
    const pastAlerts = [other, ...large, past(NOW - 9000)]
    const shown = (openEpisodes: string) => render(PastAlerts, twoTargets({ pastAlerts, openEpisodes }))
    const rows = rowsOf(shown('')).slice(1)
    expect(rows.map((row) => row.replace(/ above.*/, ''))).toEqual([
      'NoCalls production, type=video 14:01:40 10m 70%',
      'HighFailureRate 60 alerts on 40 targets Show 12:54:20 1h 9m 59%',
      'HighFailureRate production, type=video 11:43:20 10m 70%',
    ])
    expect(rows[1]).toMatch(/resolved warning slack$/)
    const [newest] = rowsOf(shown(`HighFailureRate ${isoTime(NOW - 1200 - 60 * 59)}`)).slice(3)
    expect(newest).toMatch(/^HighFailureRate t0, type=video 13:53:20 10m 0% /)
    const button = shown(`HighFailureRate ${isoTime(NOW - 1200 - 60 * 59)}`).find(({ type }) => type === 'button')!
    expect([button.text, button.props['aria-expanded']]).toEqual(['Hide', true])
  })
})

describe('the failure ratios of the page', () => {
  test.each([
    ['', '10', '60%'],
    ['production', '5', '60%'],
  ])('with the selected target "%s" are a share of %s calls', (target, calls, any) => {
    const elements = render(FailureRatio, twoTargets({ target }))
    const row = elements.findIndex(({ type, text }) => type === 'tr' && text.startsWith('15m'))
    expect(textOf(elements.slice(row), { 'data-label': 'Calls' })).toBe(calls)
    expect(textOf(elements.slice(row), { 'data-label': 'any' })).toBe(any)
  })

  test('show each rule with the ratio of its own calls, and draw its threshold', () => {
    const elements = render(FailureRatio, twoTargets({ target: 'production' }))
    expect(rowsOf(elements).at(-1)).toBe(
      'HighFailureRate firing any, 15m, mode=call, at least 20 calls 5 too few above 30% clears at 20%',
    )
    const lines = elements.filter(({ type }) => type === 'line')
    expect(lines.map(({ props }) => props['x1'])).toEqual([30])
  })
})

test('the tiles of the page add up the targets', () => {
  const tiles = render(Tiles, twoTargets())
  expect(textOf(tiles, { id: 'calls-now' })).toBe('3')
  expect(textOf(tiles, { id: 'alerts-firing' })).toBe('1')
  expect(textOf(tiles, { id: 'failing' })).toBe('60%')
  const notes = tiles.filter(({ props }) => props['class'] === 'soft').map(({ text }) => text)
  expect(notes).toEqual([
    '4 participants',
    '10 finished calls',
    '0 pending',
    'production: 5s ago',
    'no alert was sent in 7 days',
  ])
  expect(textOf(render(Tiles, twoTargets({ target: 'production' })), { id: 'calls-now' })).toBe('2')
})

test('the tile of failed calls is that of the incident while one is about them, and says what all calls are', () => {
  const made = (target: string) =>
    shownTarget({ target, rules: [RULE], alerts: [firing(RULE)], finished: FINISHED, sync: POLLED })
  const state = amid([made('a'), made('b'), shownTarget({ target: 'c', finished: FINISHED, sync: POLLED })])
  const tile = (of: State) => tileOf(of, 'failing')
  const of = '80 finished calls (mode=call); all calls in 15m: 60%'
  expect(tile(state)).toEqual(['Failed in 15m, 2 targets', '42.5%', of, 'big bad'])
  expect(tile({ ...state, target: 'b' })).toEqual([
    'Failed in 15m',
    '42.5%',
    'HighFailureRate: 40 finished calls (mode=call)',
    'big bad',
  ])
  expect(tile({ ...state, target: 'c' })).toEqual(['Failed in 15m', '60%', '5 finished calls', 'big '])
  for (const one of state.snapshot!.alerts) one.value = one.threshold
  expect(tile(state).at(-1)).toBe('big ')
})

test('a table of many columns says how many rows it has, for a phone, which shows the first ones', () => {
  const column = (title: string) => [title, String] as const
  const more = (columns: number, rows: number) => {
    const items = Array.from({ length: rows }, (_, i) => i)
    const titles = Array.from({ length: columns }, (_, i) => column(`${i}`))
    return textOf(
      render(() => Table({ caption: '', columns: titles, items }), stateOf([])),
      { class: 'check more' },
    )
  }
  expect([more(4, 7), more(4, 6), more(3, 7)]).toEqual(['All 7', undefined, undefined])
})

test('the tiles of the page leave out the calls of a target whose list is still read', () => {
  const state = twoTargets()
  state.snapshot!.targets.find(({ name }) => name === 'production')!.last_success = null
  expect(textOf(render(Tiles, state), { id: 'calls-now' })).toBe('1')
})

test('the minutes of the page name the budgets of the month', () => {
  const elements = render(InProgress, twoTargets())
  expect(textOf(elements, { class: 'facts' })).toBe(
    'Today (UTC) 0 since 13:13 UTC This month (UTC) 0 since 13:13 UTC; Budget fires above 300',
  )
})

describe('the tiles of polls and messages', () => {
  const tile = (id: string, state: State) => tileOf(state, id).slice(1, 3)

  test('say how many targets can be read, and which one has waited longest', () => {
    const late = shownTarget({ target: 'late', sync: POLLED, pollAge: 400 })
    expect(tile('polls', stateOf([shownTarget({ sync: POLLED }), late], { now: 2000 }))).toEqual([
      '1 of 2',
      'late: 6m 42s ago',
    ])
    // Also in the first seconds of an outage.
    const down = stateOf([shownTarget({ sync: POLLED, problem: 'no answer' })])
    expect(tile('polls', down)).toEqual(['0 of 1', '5s ago'])
  })

  test('say of how many alerts nobody is notified, and how many are pending', () => {
    const state = stateOf(
      Array.from({ length: 6 }, (_, i) => {
        const alert = i < 5 ? firing(RULE) : { ...firing(RULE), state: 'pending' as const }
        return shownTarget({ target: `t${i}`, rules: [RULE], alerts: [alert], sync: POLLED })
      }),
    )
    const suppress = (i: number, ...suppressed: NonNullable<Alert['suppressed']>) =>
      (state.snapshot!.alerts.at(i)!.suppressed = suppressed)
    expect(tile('alerts-firing', state)).toEqual(['5', '1 pending'])
    suppress(0, { by: 'inhibition', alert: 'A' }, { by: 'poll_age' })
    suppress(1, { by: 'inhibition', alert: 'B' })
    suppress(2, { by: 'poll_age' }, { by: 'mute', until: isoTime(NOW + 60) })
    suppress(3, { by: 'mute', until: isoTime(NOW + 60) })
    suppress(5, { by: 'inhibition', alert: 'B' })
    expect(tile('alerts-firing', state)).toEqual(['5', '2 inhibited, 1 not polled, 1 muted until 14:14, 1 pending'])
  })

  test('say what waits, what fails, and who got the newest notification', () => {
    const state = twoTargets()
    const set = (receivers: NonNullable<State['snapshot']>['receivers']) => (state.snapshot!.receivers = receivers)
    expect(tile('messages', state)).toEqual(['none', 'no alert was sent in 7 days'])
    expect(tile('messages', { ...state, pastAlerts: undefined })).toEqual(['–', ''])
    const sent = { receiver: 'slack', kind: 'firing', at: isoTime(NOW - 60) } as const
    const earlier = { ...sent, receiver: 'pager', at: isoTime(NOW - 120) } as const
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the tile uses of an alert
    state.pastAlerts = [{ target: 'production', notified: [sent, earlier] }] as unknown as PastAlert[]
    expect(tile('messages', state)).toEqual(['delivered', 'slack 14:12:20'])
    set([{ name: 'slack', pending: 2 }])
    expect(tile('messages', state)).toEqual(['delivered', 'slack 14:12:20; slack: 2 to be sent'])
    expect(tile('messages', { ...state, pastAlerts: [] })).toEqual(['waiting', 'slack: 2 to be sent'])
    const receiver = { name: 'pager', pending: 1, oldest_pending_seconds: 60 }
    set([
      { name: 'slack', pending: 2 },
      { ...receiver, failing_since: isoTime(NOW - 60), problem: 'it answered 503' },
    ])
    expect(tile('messages', { ...state, now: 5000 })).toEqual([
      'failing',
      'slack: 2 to be sent; pager: failing since 14:12:20, 1 to be sent',
    ])
    set([{ ...receiver, pending: 0, problem: 'no such channel', next_attempt: isoTime(NOW + 40) }])
    expect(tile('messages', state)).toEqual([
      'some refused',
      'pager: 0 to be sent, refuses some messages: no such channel; the next attempt is at 14:14:00',
    ])
    set(undefined)
    expect(tile('messages', state)).toEqual(['–', 'slack 14:12:20'])
  })
})

describe('the tile of the failure ratio', () => {
  const rule = (name: string, window: number, minCalls: number, reason: 'any' | 'rejected' = 'any'): Rule => ({
    ...RATIO,
    name,
    signal: { ...RATIO.signal, window, minCalls, reason },
  })
  const tile = (...rules: Rule[]) =>
    tileOf(stateOf([shownTarget({ rules, finished: FINISHED, sync: POLLED })]), 'failing').slice(0, 3)

  test.each<[string, string[], Rule[]]>([
    ['the shortest exported one without a rule', ['Failed in 15m', '60%', '5 finished calls'], []],
    [
      'no difference to what is usual',
      ['Failed in 15m', '60%', '5 finished calls'],
      [{ ...RATIO, signal: { ...RATIO.signal, window: 600, minCalls: 5, relativeTo: 604_800 } }],
    ],
    ['that of a rule', ['Failed in 20s', '60%', 'Demo: 5 finished calls'], [rule('Demo', 20, 5)]],
    [
      'the shortest of its rules',
      ['Failed in 10m', '60%', 'B: 5 finished calls'],
      [rule('A', 1200, 5), rule('B', 600, 5)],
    ],
    [
      'that of a rule with too few calls',
      ['Failed in 20s', '–', 'Demo: too few, 5 finished calls'],
      [rule('Demo', 20, 6)],
    ],
    [
      'that of a rule on some calls, if none is on all of them',
      ['Failed in 20s', '–', 'A: too few, 0 finished calls'],
      [{ ...rule('A', 20, 4), match: { mode: 'meet' } }, rule('B', 60, 5, 'rejected')],
    ],
  ])('has one number: %s', (_which, expected, rules) => {
    expect(tile(...rules)).toEqual(expected)
  })

  test('has the share of all calls, and names the target where that of a rule is highest', () => {
    const made = (target: string, finished: typeof FINISHED) =>
      shownTarget({ target, rules: [rule('Demo', 20, 5)], finished, sync: POLLED })
    const good = FINISHED.map(() => finish('ended'))
    const state = stateOf([made('good', good), made('bad', FINISHED), made('quiet', [])])
    const texts = render(Tiles, state).map(({ text }) => text)
    expect(texts).toEqual(
      expect.arrayContaining([
        'Failed in 15m, all calls',
        '30%',
        '10 finished calls; highest share: bad, 60% of 5 calls in 20s',
      ]),
    )
  })
})

describe('the feed of the page', () => {
  const [event] = eventsOf({
    ledger: { transitions: [], corrections: [], details: [] },
    notifications: [firingOf(RATIO, 'production', NOW, { kind: 'resolved', value: 0.1, threshold: 0.2 })],
    backfilled: false,
  })
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the event of an alert
  const { time, data } = event as LoggedBody & { data: AlertChange }
  const resolved: FeedLine = { id: '1', kind: 'alert', type: 'callwatch.alert.resolved', time, data }
  const lines = (state: State) =>
    render(Feed, state)
      .filter(({ type }) => type === 'li')
      .map(({ text }) => text)

  test('shows the change of an alert with its value and threshold', () => {
    expect(lines(twoTargets({ feed: [resolved] }))).toEqual([
      '14:13:20 HighFailureRate resolved on production, 10%, threshold 20%',
    ])
  })

  test('shows only events of the selected target', () => {
    expect(lines(twoTargets({ feed: [resolved], target: 'staging' }))).toEqual([])
  })
})

describe('the banner of the page', () => {
  const banner = (state: State) =>
    render(Banner, state)
      .filter(({ type }) => type === 'li')
      .map(({ text }) => text)

  const bannerClass = (state: State) => render(Banner, state).find(({ type }) => type === 'ul')?.props['class']

  test('is absent while all data are live', () => {
    expect(banner(twoTargets())).toEqual([])
  })

  test('says how many targets are stale, and names one of them', () => {
    const made = { sync: POLLED, pollAge: 400, problem: 'no answer' }
    const failing = (count: number) =>
      Array.from({ length: count }, (_, i) => shownTarget({ target: `t${i}`, ...made }))
    const line = 't0: no successful poll since 14:13:20 UTC. No answer. (for 6m 40s)'
    expect(banner(stateOf(failing(1)))).toEqual([line])
    expect(banner(stateOf([...failing(9), shownTarget()]))).toEqual([
      `9 of 10 targets have no successful poll. ${line}`,
    ])
    // The head of the overview says it, if alerts fire for all of it, and the header does not say it again.
    const alerts = [firing(POLL_AGE)]
    const told = failing(2).map((one, i) => shownTarget({ ...made, target: one.name, alerts: i < 1 ? alerts : [] }))
    const [one, all] = [amid(told), amid(told.slice(0, 1))]
    const recovering = amid([shownTarget({ ...made, alerts: [{ ...firing(POLL_AGE), state: 'recovering' }] })])
    const states = [all, { ...all, view: 'calls' }, recovering, stateOf(told.slice(0, 1))]
    expect(states.map((state) => banner(state).length)).toEqual([0, 1, 1, 1])
    // Nor that of targets on which an alert will fire soon, but one that has waited for longer is another outage.
    expect(banner(one)).toEqual([])
    one.snapshot!.targets.at(1)!.last_success = isoTime(NOW - 600)
    expect(banner(one)).toHaveLength(1)
    // The page of the alert says it as well.
    const query = new URLSearchParams({ alert: POLL_AGE.name })
    expect(banner({ ...one, view: 'alert', query })).toEqual([])
    expect(banner({ ...one, view: 'alert', query: new URLSearchParams({ alert: 'Other' }) })).toHaveLength(1)
    expect([recovering, stateOf([])].map(isAllStale)).toEqual([true, false])
    // The page itself is connected, which is no good news where nothing is polled.
    expect(textOf(render(Page, { ...all, view: 'calls', isWaiting: false }), { class: 'now' })).toBe(
      'no poll succeeds 14:13:20 UTC version 1.2.3',
    )
  })

  test('names the age of the data of the selected targets alone', () => {
    const failing = shownTarget({ target: 'staging', sync: POLLED, pollAge: 400, problem: 'no answer' })
    const targets = [shownTarget({ sync: POLLED }), failing]
    expect(banner(stateOf(targets))).toEqual([
      'staging: no successful poll since 14:13:20 UTC. No answer. (for 6m 40s)',
    ])
    expect(banner(stateOf(targets, { target: 'production' }))).toEqual([])
  })

  test('names the progress of an initial sync', () => {
    const refused = shownTarget({ target: 'staging', sync: {}, problem: 'the key is not known' })
    const state = stateOf([
      { ...shownTarget({ sync: {} }), progress: () => ({ pagesRead: 12, pages: 80 }) },
      { ...shownTarget({ target: 'b', sync: {} }), progress: () => ({ pagesRead: 3, pages: undefined }) },
      { ...refused, progress: () => ({ pagesRead: 0, pages: undefined }) },
    ])
    expect(banner(state)).toEqual([
      '3 of 3 targets have no successful poll. staging: waiting for the initial sync. The key is not known.',
    ])
    const [, ...first] = state.snapshot!.targets.toReversed()
    state.snapshot!.targets = first.toReversed()
    expect(banner(state)).toEqual([
      '2 of 2 targets are in their initial sync. production: the past calls are read first. (the initial sync has read 12 of 80 pages)',
    ])
    state.snapshot!.targets = first.slice(0, 1)
    expect(banner(state)).toEqual([
      'b: the past calls are read first. (the initial sync has read 3 of an unknown number of pages)',
    ])
    const reading = shownTarget({ sync: {}, problem: 'the list is being read: 2 of 80 pages so far', fault: 'list' })
    const long = stateOf([{ ...reading, progress: () => ({ pagesRead: 3, pages: 80 }) }])
    expect(banner(long)).toEqual([
      'production: the past calls are read first. (the initial sync has read 3 of 80 pages)',
    ])
    const over = [
      shownTarget({ target: 'b', sync: POLLED }),
      { ...reading, progress: () => ({ pagesRead: 3, pages: 80 }) },
    ]
    const rows = rowsOf(render(Overview, stateOf(over)))
    expect(rows[1]).toMatch(
      /^production initial sync the initial sync has read 3 of 80 pages not evaluated never polled/,
    )
    expect(isSyncing(stateOf(over))).toBe(true)
    // It says the pages once, and is no outage.
    expect(isSyncing(long)).toBe(true)
    expect(bannerClass(long)).toBe('banner progress')
    expect(textOf(render(TargetFacts, long), { class: 'facts' })).toMatch(
      /^Health initial sync the initial sync has read 3/,
    )
    expect(render(Tiles, long).find(({ props }) => props['id'] === 'polls')?.props['class']).toBe('big warning')
    expect(bannerClass(stateOf([refused]))).toBe('banner')
    expect(isSyncing(state)).toBe(true)
    expect(isSyncing(stateOf([refused]))).toBe(false)
    expect(isSyncing(stateOf([shownTarget({ sync: {} }), shownTarget({ target: 'b', sync: POLLED })]))).toBe(true)
    expect(isSyncing(twoTargets())).toBe(false)
  })

  test('has nothing to say of a target that there is not, which the page says instead of its numbers', () => {
    for (const view of ['overview', 'alerts']) {
      const state = twoTargets({ target: 'gone', view })
      expect(banner(state)).toEqual([])
      expect(textOf(render(Page, state), { id: 'content' })).toBe(
        'There is no target gone. Its name may be mistyped, it is no longer in the configuration, or no daemon has loaded it yet. All targets',
      )
    }
    const known = twoTargets({ target: 'staging', view: 'alerts' })
    expect(textOf(render(Page, known), { id: 'content' })).toMatch(/^Nothing is wrong .* Rules/)
  })

  test('has the problem of the store alone, which explains the others', () => {
    const problem = 'the database db1 cannot be reached'
    const state = stateOf([shownTarget({ sync: POLLED, problem, pollAge: 900 })], {}, problem)
    expect(banner(state)).toEqual(['The database db1 cannot be reached.'])
  })

  test('has the time of the data while callwatch is unreachable', () => {
    expect(banner(twoTargets({ connected: false, now: 5000 }))).toEqual([
      'Not connected to callwatch. Data of 14:13:20 UTC. (5s ago)',
    ])
  })
})

describe('the targets of the page', () => {
  /** Targets by their owner, none of which this daemon owns. */
  function owned(owners: Readonly<Record<string, string | undefined>>, target = '') {
    const targets = Object.entries(owners).map(([name, owner]) => {
      const shown = shownTarget({ target: name, sync: POLLED, ...(owner === undefined && { problem: 'no poll' }) })
      return { ...shown, owner: () => owner }
    })
    return stateOf(targets, { target })
  }
  /** The value of a fact; undefined without the fact. */
  const factOf = (state: State, name: string) => {
    const elements = render(TargetFacts, state)
    const at = elements.findIndex(({ type, text }) => type === 'dt' && text.startsWith(name))
    return at < 0 ? undefined : elements[at + 1]?.text
  }

  test('have their owners where several daemons share the targets', () => {
    const owners = { production: 'a7, process 1', staging: 'b2, process 1', test: undefined }
    expect(Object.keys(owners).map((target) => factOf(owned(owners, target), 'Owner'))).toEqual([
      'a7, process 1',
      'b2, process 1',
      'no owner',
    ])
    expect(rowsOf(render(Overview, owned(owners))).filter((row) => row.includes('no owner'))).toHaveLength(1)
  })

  test('have no owner where there is a single daemon', () => {
    expect(factOf(owned({ production: undefined }), 'Owner')).toBeUndefined()
  })

  test.each([
    ['up', {}, 'up'],
    ['stale', { pollAge: 100 }, 'stale'],
    ['failing', { problem: 'no answer' }, 'failing no answer'],
    ['never polled', { sync: {}, problem: 'no answer' }, 'never polled no answer'],
  ])('are %s with the reason', (_health, made, expected) => {
    const target = shownTarget({ sync: POLLED, ...made })
    expect(factOf(stateOf([target]), 'Health')).toBe(expected)
    const [row] = rowsOf(render(Overview, stateOf([target, shownTarget({ target: 'b' })]))).slice(1)
    expect(row).toMatch(new RegExp(`^production ${expected} `))
  })

  test('show a rate limit pause, a slow sweep and a refused page', () => {
    const slowSweep = { pages: 5000, seconds: 1200, polls: 20 }
    const target = { ...shownTarget({ sync: POLLED, slowSweep, refusedFrom: 7 }), pausedFor: () => 30 }
    expect(factOf(stateOf([target]), 'Health')).toBe(
      'up rate limit pause: no requests for 30s; the whole list (5,000 pages) is read once in 20m; the service refuses page 7 of its list and later pages',
    )
  })
})

test('the page says where the answers of the service are slow', () => {
  const slow = (target: string) => shownTarget({ target, sync: POLLED, slowAnswers: 4.2 })
  const polls = (...targets: ReturnType<typeof shownTarget>[]) => tileOf(stateOf(targets), 'polls').slice(1)
  expect(polls(slow('a'))).toEqual(['1 of 1', '5s ago; slow answers', 'big warning'])
  expect(polls(slow('a'), shownTarget())).toEqual(['2 of 2', 'a: 5s ago; slow answers on 1 target', 'big warning'])
  expect(rowsOf(render(Overview, stateOf([slow('a'), shownTarget()])))[1]).toContain(
    'a up the service is slow: 4s an answer',
  )
})

describe('the overview of the page', () => {
  const finished = (failed: number) => [
    ...Array.from({ length: 20 - failed }, () => finish('ended')),
    ...Array.from({ length: failed }, () => finish('rejected')),
  ]
  const made = { rules: [RATIO_RULE], sync: POLLED }
  const critical = { ...RATIO_RULE, severity: 'critical' } as const
  const targets = [
    shownTarget({ ...made, target: 'healthy', finished: finished(1) }),
    shownTarget({ ...made, target: 'worse', finished: finished(4) }),
    shownTarget({ ...made, target: 'pending', alerts: [{ ...firing(), state: 'pending' }], finished: finished(2) }),
    shownTarget({ ...made, target: 'warning', alerts: [firing()], finished: finished(2) }),
    shownTarget({ ...made, target: 'critical', rules: [critical], alerts: [firing(critical)], finished: finished(2) }),
    shownTarget({ ...made, target: 'failing', problem: 'no answer', calls: [openCall('a')] }),
    shownTarget({ ...made, target: 'late', pollAge: 400 }),
  ]
  const state = stateOf(targets)
  state.snapshot!.perMinute.targets = targets.map(({ name }) => {
    return { name, ended: [3, 1], unanswered: [0, null], rejected: [1, 0], canceled: [0, 0], other: [0, 0] }
  })
  const lines = (elements: ReturnType<typeof render>) => rowsOf(elements).slice(1)

  test('has failing targets first, then firing alerts, then the highest failure ratio', () => {
    expect(lines(render(Overview, state))).toEqual([
      'failing failing no answer – 0 1 5s ago',
      'late stale – 0 0 6m 40s ago',
      'critical up firing 10% 20 0 5s ago',
      'warning up firing 10% 20 0 5s ago',
      'pending up pending 10% 20 0 5s ago',
      'worse up 20% 20 0 5s ago',
      'healthy up 5% 20 0 5s ago',
    ])
    expect(rowsOf(render(Overview, state))[0]).toContain('Failed in 15m')
    // Of targets whose rules have several windows, each says its own.
    const other = shownTarget({
      ...made,
      target: 'other',
      rules: [{ ...RATIO_RULE, signal: { name: 'failure_ratio', reason: 'any', window: 300, minCalls: 20 } }],
    })
    const both = rowsOf(render(Overview, stateOf([...targets, other])))
    expect(both[0]).not.toContain('Failed in')
    expect(both.at(-1)).toBe('other up – in 5m 0 0 5s ago')
  })

  test('has the colour of what fires, not of what only waits to resolve', () => {
    const recovering = { ...firing(critical), key: 'critical', state: 'recovering' as const }
    const looks = [[recovering, firing()], [recovering]].map((alerts) => {
      const [, row] = render(
        Overview,
        stateOf([shownTarget({ ...made, alerts }), shownTarget({ target: 'b' })]),
      ).filter(({ type }) => type === 'tr')
      return String(row?.props['class']).trim()
    })
    expect(looks).toEqual(['warning', ''])
    const shown = render(
      Overview,
      stateOf([shownTarget({ ...made, alerts: [recovering] }), shownTarget({ target: 'b' })]),
    )
    expect(shown.find(({ text }) => text === 'recovering')?.props['class']).toBe('badge good')
  })

  test('draws the calls of each minute, next to those of the window of an hour, and links to the page of the target', () => {
    const elements = render(Overview, state)
    const drawn = elements.filter(({ type }) => type === 'path').map(({ props }) => props['d'])
    expect(drawn.slice(0, 2)).toEqual(['M0.5 20v-20.00M1.5 20v-5.00', 'M0.5 20v-5.00M1.5 20v0.00'])
    expect(elements.find(({ type }) => type === 'a')?.props['href']).toBe('./?target=failing')
  })

  test('lists the targets that are searched by their name, their alerts or their state, thirty at a time', () => {
    const names = (search: Searching) =>
      lines(render(Overview, searching(state, search))).map((line) => line.split(' ')[0])
    expect(names({ text: 'FAILURErate' })).toEqual(['critical', 'warning', 'pending'])
    expect(names({ text: 'te', is: 'stale' })).toEqual(['late'])
    expect(names({ text: 'wOrse ', from: 30 })).toEqual(['worse'])
    expect(names({ is: 'with alerts' })).toEqual(['critical', 'warning', 'pending'])
    const many = stateOf(Array.from({ length: 70 }, (_, i) => shownTarget({ ...made, target: `t${i}` })))
    const at = (from: number) => searching(many, { from })
    const [first, last] = [at(0), at(60)]
    expect([lines(render(Overview, first)).length, lines(render(Overview, last)).length]).toEqual([30, 10])
    expect(textOf(render(Overview, last), { class: 'window' })).toBe('61–70 of 70')
    expect(names({})).toHaveLength(7)
  })

  test('has no 0 where nobody has counted', () => {
    const never = stateOf([shownTarget({ sync: {} }), shownTarget({ target: 'b', sync: {} })])
    expect(lines(render(Overview, never))).toEqual(
      ['production', 'b'].map((name) => `${name} initial sync not evaluated never polled – never polled`),
    )
    const tiles = render(Tiles, never).filter(({ type }) => type === 'dd')
    expect(tiles.map(({ text }) => text)).toEqual([
      ...['never polled', 'not evaluated', 'not evaluated'].flatMap((why) => ['–', why]),
      '0 of 2',
      'none succeeded yet',
      '–',
      '',
    ])
    expect([render(InProgress, never), render(FailureRatio, never)]).toEqual([[], []])
  })

  test('is absent where one target is shown', () => {
    expect(render(Overview, { ...state, target: 'late' })).toEqual([])
    expect(render(Overview, stateOf([shownTarget()]))).toEqual([])
  })

  test('leaves the rules of a target to its own page, those with an alert first', () => {
    const rules = [{ ...RATIO_RULE, name: 'Quiet' }, RATIO_RULE]
    const both = [shownTarget({ ...made, rules, alerts: [firing()] }), shownTarget({ ...made, target: 'b' })]
    const shown = (target: string) =>
      rowsOf(render(FailureRatio, stateOf(both, { target }))).flatMap(
        (text) => /^(\w+)(?: firing)? any,/.exec(text)?.[1] ?? [],
      )
    expect(shown('production')).toEqual(['HighFailureRate', 'Quiet'])
    expect(shown('')).toEqual([])
  })
})

describe('the banner about notifications', () => {
  type Receivers = NonNullable<State['snapshot']>['receivers']
  const shown = (receivers: Receivers, given: Partial<State> = {}) => {
    const state = twoTargets(given)
    state.snapshot!.receivers = receivers
    return render(Banner, state)
  }
  const banner = (...given: Parameters<typeof shown>) =>
    shown(...given).flatMap(({ type, text }) => (type === 'li' ? text : []))
  const classOf = (receivers: Receivers) => shown(receivers).find(({ type }) => type === 'ul')?.props['class']
  const failing = {
    name: 'slack',
    pending: 2,
    failing_since: isoTime(NOW - 600),
    problem: 'Slack answered 503',
  }

  test('says since when and why a receiver gets nothing, and how many notifications wait, in each view', () => {
    const line = 'slack: no notification could be delivered since 14:03:20 UTC. Slack answered 503. (2 waiting)'
    expect(banner([failing, { name: 'pager', pending: 1 }])).toEqual([line])
    expect(banner([failing], { view: 'calls' })).toEqual([line])
    expect(banner([{ ...failing, pending: 0 }])).toEqual([line.replace(' (2 waiting)', '')])
  })

  test('says on the overview that none is configured, and nothing where that is not known', () => {
    const line =
      'No receiver of notifications is configured: alerts are only written to the log. Set notify.slack, for example.'
    expect(banner([])).toEqual([line])
    expect(classOf([])).toBe('banner progress')
    expect(classOf([failing])).toBe('banner')
    expect(banner([], { view: 'calls' })).toEqual([])
    expect(banner(undefined)).toEqual([])
  })

  test('does not make the data stale', () => {
    const state = twoTargets()
    state.snapshot!.receivers = [failing]
    expect(isAllStale(state)).toBe(false)
  })
})

describe('the webhooks of the page', () => {
  const webhook = { name: 'crm', state: 'delivering', pending: 0, dead_letters: 0 } as const
  const shown = (given: Partial<NonNullable<State['snapshot']>['webhooks'][number]>) => {
    const state = twoTargets({ now: 5000 })
    state.snapshot!.webhooks = [{ ...webhook, ...given }]
    return rowsOf(render(Webhooks, state))[1]
  }

  test('are absent where there are none', () => {
    expect(render(Webhooks, twoTargets())).toEqual([])
  })

  test.each([
    ['delivers', { last_delivered: isoTime(NOW - 60) }, 'crm delivering 0 – 0 14:12:20'],
    [
      'fails',
      { state: 'failing', problem: 'it answered 503', pending: 1234, oldest_pending_seconds: 60, dead_letters: 2 },
      'crm failing it answered 503 1,234 1m 5s 2 never',
    ],
    ['is paused', { state: 'paused', problem: 'paused by a command' }, 'crm paused paused by a command 0 – 0 never'],
    ['was removed', { state: 'removed', pending: 3 }, 'crm removed 3 – 0 never'],
  ] as const)('show one that %s', (_what, given, expected) => {
    expect(shown(given)).toBe(expected)
  })
})
