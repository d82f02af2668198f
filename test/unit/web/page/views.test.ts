import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { CallDetails } from '../../../../src/web/page/components/call-details.tsx'
import { Usage } from '../../../../src/web/page/components/usage.tsx'
import { addressOf, addressOfCalls } from '../../../../src/web/page/model/address.ts'
import type { CallDetails as Details, Report } from '../../../../src/web/page/model/api.ts'
import { callsRequest, loadCall, meaningOf } from '../../../../src/web/page/model/calls.ts'
import { stepAt } from '../../../../src/web/page/model/chart.ts'
import { chooseZone } from '../../../../src/web/page/model/format.ts'
import {
  addressTime,
  inputTime,
  parameterTime,
  monthPeriod,
  presetOf,
  presetPeriod,
} from '../../../../src/web/page/model/period.ts'
import { change, current, load } from '../../../../src/web/page/model/state.ts'
import { daysChart, keysOf, usageRequest } from '../../../../src/web/page/model/usage.ts'
import { isoTime } from '../../../../src/clock/times.ts'
import { HISTORY_STATUSES } from '../../../../src/history/call-filter.ts'
import { runbookPages } from '../../../../src/web/runbook-pages.ts'
import { RATIO_RULE, NOW, POLLED } from '../../../kit/metrics/hand-made-target.ts'
import { shownTarget } from '../../../kit/web/serve.ts'
import { render, rowsOf, stateOf, textOf, withoutBrowser } from './render-text.ts'

/** 2026-09-21T14:13:20Z (milliseconds). */
const TIME = NOW * 1000

beforeEach(() => void vi.stubEnv('TZ', 'UTC'))
afterEach(() => {
  vi.unstubAllEnvs()
  chooseZone('')
})

describe('the address of a view', () => {
  test.each([
    ['overview', {}, './'],
    ['overview', { target: 'production' }, './?target=production'],
    ['overview', { target: 'a b', zone: 'UTC' }, './?target=a+b&zone=UTC'],
    ['calls', { target: ['a', 'b'], type: '', status: 'lost' }, './?target=a&target=b&status=lost#calls'],
    ['call', { target: 'a', call_id: 'v1/x&y' }, './?target=a&call_id=v1%2Fx%26y#call'],
    ['usage', {}, './#usage'],
  ] as const)('%s with %j is %s', (view, parameters, address) => {
    expect(addressOf(view, parameters)).toBe(address)
  })
})

describe('a time of the address', () => {
  test.each([
    ['2026-09-21T08:00:00Z', '2026-09-21T08:00:00Z'],
    ['2026-09-21T08:00:00+05:30', '2026-09-21T02:30:00Z'],
    ['2026-09-21T08:00', '2026-09-21T06:00:00Z'],
    ['2026-09-21', '2026-09-20T22:00:00Z'],
    ['2026-10-26', '2026-10-25T23:00:00Z'],
    ['1790000000', '2026-09-21T14:13:20Z'],
    ['90m', '2026-09-21T12:43:20Z'],
    ['7d', '2026-09-14T14:13:20Z'],
  ])('%s is read as %s by a reader in Berlin', (text, expected) => {
    vi.stubEnv('TZ', 'Europe/Berlin')
    const time = parameterTime(new URLSearchParams({ since: text }), 'since', TIME)
    expect(time).toBe(Date.parse(expected))
    // What an input shows of it means the same moment.
    expect(addressTime(inputTime(new URLSearchParams({ since: text }), 'since', TIME))).toBe(expected)
  })

  test.each(['yesterday', '2026', '20260921', '2026-09-32', '2026-09-21T25:00Z'])('cannot be %s', (text) => {
    const query = new URLSearchParams({ since: text })
    expect(() => parameterTime(query, 'since', TIME)).toThrow(
      `since=${text} is not a time: expected a date such as 2026-11-01,`,
    )
    expect(inputTime(query, 'since', TIME)).toBe('')
  })

  test('is in the zone that the reader chooses', () => {
    vi.stubEnv('TZ', 'Europe/Berlin')
    for (const [zone, expected] of [
      ['UTC', '2026-09-21T08:00:00Z'],
      ['Asia/Kolkata', '2026-09-21T02:30:00Z'],
      ['America/St_Johns', '2026-09-21T10:30:00Z'],
      ['Nowhere/Else', '2026-09-21T06:00:00Z'],
    ] as const) {
      chooseZone(zone)
      expect(addressTime('2026-09-21T08:00')).toBe(expected)
    }
  })

  test('beside a change of the clocks is the one that the clocks show', () => {
    chooseZone('Europe/Berlin')
    expect(addressTime('2026-10-25T00:30')).toBe('2026-10-24T22:30:00Z')
    expect(addressTime('2026-10-25T04:00')).toBe('2026-10-25T03:00:00Z')
    expect(addressTime('2026-03-29T01:30')).toBe('2026-03-29T00:30:00Z')
    expect(addressTime('2026-03-29T03:30')).toBe('2026-03-29T01:30:00Z')
  })
})

describe('the request of the calls', () => {
  const requestOf = (query: string) =>
    Object.fromEntries(new URLSearchParams(callsRequest(new URLSearchParams(query), TIME)))

  test.each([
    ['', { since: '1970-01-01T00:00:00.000Z' }],
    // The server knows the clock of the service.
    ['since=1d&until=1h', { since: '1d', until: '1h' }],
    [
      'since=1790000000&until=2026-09-22T00:00Z',
      { since: '2026-09-21T14:13:20.000Z', until: '2026-09-22T00:00:00.000Z' },
    ],
    ['status=in_progress&since=1d', { status: 'initiated,ongoing' }],
    ['status=ongoing&until=1d&type=audio', { status: 'ongoing', type: 'audio' }],
    ['status=lost&zone=UTC', { since: '1970-01-01T00:00:00.000Z', status: 'lost' }],
  ])('of the address ?%s', (query, expected) => {
    expect(requestOf(query)).toEqual(expected)
  })

  test('has all filters, and each of several targets', () => {
    const filters = 'type=video&mode=meet&receiver_type=group&status=ended&has_recording=true&session_id=v1.us'
    const request = callsRequest(new URLSearchParams(`target=a&target=b&${filters}`), TIME)
    expect(new URLSearchParams(request).getAll('target')).toEqual(['a', 'b'])
    expect(request.endsWith(filters)).toBe(true)
  })

  test('is refused without a period', () => {
    expect(() => requestOf('since=1h&until=2h')).toThrow('“From” is not before “Before”')
  })
})

describe('the request of the usage', () => {
  const requestOf = (query: string) => decodeURIComponent(usageRequest(new URLSearchParams(query), TIME))

  test.each([
    ['', 'since=2026-09-01&zone=Europe/Berlin&by=target'],
    ['zone=UTC&by=type,day', 'since=2026-09-01&zone=UTC&by=day,type'],
    ['zone=UTC&by=target,app', 'since=2026-09-01&zone=UTC&by=app,target'],
    ['since=7d&by=none', 'since=7d&zone=Europe/Berlin&by=none'],
    [
      'since=2026-01-01&until=2026-02-01&target=a',
      'since=2026-01-01&until=2026-02-01&zone=Europe/Berlin&by=target&target=a',
    ],
  ])('of the address ?%s is %s', (query, expected) => {
    vi.stubEnv('TZ', 'Europe/Berlin')
    chooseZone(new URLSearchParams(query).get('zone') ?? '')
    expect(requestOf(query)).toBe(expected)
  })

  test('takes only keys that a report has', () => {
    expect(keysOf(new URLSearchParams('by=mode,moon&by=day'))).toEqual(['day', 'mode'])
  })

  test.each([
    ['month', '2026-09-01', ''],
    ['last-month', '2026-08-01', '2026-09-01'],
    ['7d', '7d', ''],
  ] as const)('has the period of %s', (preset, since, until) => {
    expect(presetPeriod(preset, TIME)).toEqual({ since, until })
    const presets = (['month', 'last-month', '7d'] as const).map((name) => [name, ''] as const)
    expect(presetOf(new URLSearchParams({ since, until }), TIME, presets)).toBe(preset)
    expect(presetOf(new URLSearchParams({ since, until: '2026-09-02' }), TIME, presets)).toBe('')
  })

  test.each([
    ['2026-09-01T00:00:00.000', -1, 0, '2026-08-01', '2026-09-01'],
    ['2026-08-15T12:00:00.000', -1, 0, '2026-08-01', '2026-09-01'],
    ['2026-07-01T00:00:00.000', 0, 1, '2026-08-01', '2026-09-01'],
    ['2026-08-15T12:00:00.000', 0, 1, '2026-09-01', ''],
    ['2025-12-01T00:00:00.000', 0, 1, '2026-01-01', '2026-02-01'],
  ])('has of %s and %i ms the month %i later, which is from %s before %s', (time, more, months, since, until) => {
    expect(monthPeriod(Date.parse(`${time}Z`) + more, months, TIME)).toEqual({ since, until })
  })

  test('has the month of the zone, also in January', () => {
    chooseZone('Asia/Kolkata')
    expect(presetPeriod('last-month', Date.parse('2026-12-31T20:00:00Z'))).toEqual({
      since: '2026-12-01',
      until: '2027-01-01',
    })
  })
})

describe('the chart of the usage by day', () => {
  const minutes = { audio: 1, video: 2, total: 3 }
  const by = (day: string, known_days = 0, before = 0) => {
    const compared = {
      targets: 1,
      days: 1,
      known_days,
      now: amounts,
      before: { ...amounts, participant_minutes: before },
    }
    return { ...row, target: undefined, day, participant_minutes: minutes, compared }
  }
  const coverage = {
    blind_seconds: 1,
    blind: [
      { target: 'production', kind: 'now' as const, since: '2026-10-26T22:00:00Z', until: '2026-10-27T11:00:00Z' },
    ],
  }
  const days = reportOf({
    since: '2026-10-23T22:00:00.000Z',
    until: '2026-10-27T11:00:00.000Z',
    rows: [by('2026-10-24', 1, 3), by('2026-10-26')],
    coverage,
  })

  test('has each day of the zone, also one of 25 hours, and no 0 of a day that nobody saw', () => {
    chooseZone('Europe/Berlin')
    const chart = daysChart(days, ['production'], Date.parse('2026-10-27T11:00:00Z'))
    expect(chart.times.map((at) => isoTime(at))).toEqual([
      '2026-10-23T22:00:00.000Z',
      '2026-10-24T22:00:00.000Z',
      '2026-10-25T23:00:00.000Z',
      '2026-10-26T23:00:00.000Z',
    ])
    expect(chart.series.map(({ name, values }) => [name, ...values])).toEqual([
      ['audio', 1, 0, 1, null],
      ['video', 2, 0, 2, null],
    ])
    // The legend has what the period has, not the last day.
    expect(chart.series.map(({ whole }) => whole)).toEqual([3, 4.25])
    // The last day is not over.
    expect(chart.complete).toBe(3)
    expect(chart.times.map((at) => stepAt(chart, at))).toEqual([0, 1, 2, 3])
    expect([-1, 3600 * 24 * 4].map((more) => stepAt(chart, (chart.times[0] ?? 0) + more))).toEqual([undefined, 3])
  })
})

const media = { audio: 1, video: 2 }
const NONE = { calls: 0, failure_ratio: null, participant_minutes: 0, user_minutes: 0 }
const amounts = { calls: 5, failure_ratio: 0.2, participant_minutes: 7.25, user_minutes: 7.5 }
const row: Report['total'] & { target: string } = {
  target: 'production',
  calls: { total: 5, ended: 4, unanswered: 1, rejected: 0, canceled: 0, other: 0, lost: 1 },
  minutes: media,
  participant_minutes: { audio: 3, video: 4.25, total: 7.25 },
  user_minutes: 7.5,
  failure_ratio: 0.2,
  invited: { joined: 7, absent: 3, unknown: 0 },
  not_joined_ratio: 0.3,
  duration_seconds: { mean: 60, p50: 50, p95: null },
  noticed_late: 2,
  blind_seconds: 0,
  compared: { targets: 1, days: 29, known_days: 0, now: amounts, before: amounts },
}
const total = {
  ...row,
  target: undefined,
  user_minutes: 15,
  failure_ratio: 0.25,
  compared: {
    targets: 2,
    days: 58,
    known_days: 34,
    now: { ...amounts, user_minutes: 15, failure_ratio: 0.25 },
    before: amounts,
  },
}
const none = { ...total, calls: { total: 0, ended: 0, unanswered: 0, rejected: 0, canceled: 0, other: 0, lost: 0 } }

const reportOf = (differing: Partial<Report> = {}): Report => ({
  since: isoTime(NOW - 86_400),
  until: isoTime(NOW),
  zone: 'UTC',
  running: false,
  before: null,
  coverage: { blind_seconds: 0, blind: [] },
  worst_hour: null,
  fired: [],
  forecast: null,
  by: ['target'],
  rows: [row, { ...row, target: 'staging' }],
  total,
  ...differing,
})

/** What a view has once its answer has arrived. */
const loaded = <T>(answer: T, request = '') => ({ request, answer, problem: undefined, asOf: '' })

describe('the usage', () => {
  const shown = (differing: Partial<Report>) => {
    const usage = loaded({ report: reportOf(differing), chart: undefined }, 'since=1d')
    return render(Usage, stateOf([shownTarget({ sync: POLLED })], { view: 'usage', usage }))
  }
  const blind = (kind: 'before' | 'expired' | 'ended' | 'now', seconds: number) => ({
    coverage: {
      blind_seconds: seconds,
      blind: [{ target: 'production', kind, since: isoTime(NOW - seconds), until: isoTime(NOW) }],
    },
  })

  test('has a row with all numbers, in the order of the report, and one of all calls', () => {
    const worse = {
      ...row,
      target: 'staging',
      user_minutes: 8,
      failure_ratio: 0.3,
      compared: { ...row.compared, known_days: 5 },
    }
    const rows = shown({ rows: [worse, row] }).filter(({ type }) => type === 'tr')
    expect(rows.map(({ text }) => text).slice(1)).toEqual([
      'staging 5 4 1 0 0 1 1.0 2.0 3.0 4.3 8.0 ±0%, known of 5 of 29 days 30.0% 30.0% 1m – 2',
      'production 5 4 1 0 0 1 1.0 2.0 3.0 4.3 7.5 not known before 20.0% 30.0% 1m – 2',
      'all 5 4 1 0 0 1 1.0 2.0 3.0 4.3 15.0 +100%, known of 34 of 58 target-days 25.0% 30.0% 1m – 2',
    ])
    expect(shown({ rows: [row] }).filter(({ type }) => type === 'tr')).toHaveLength(2)
    const many = { ...total, minutes: { audio: 3000.4, video: 0 }, blind_seconds: 600 }
    expect(
      shown({ total: many }).find(({ text }) => text.startsWith('all 5 4 1 0 0 1 3,000 0.0 3.0 4.3'))?.text,
    ).toMatch(/ 2 10m$/)
  })

  test('has no column of what no row has: calls that were noticed late, times that are not covered, and a change', () => {
    const headOf = (differing: Partial<Report['total']>) => {
      const head = rowsOf(shown({ total: { ...total, ...differing } })).at(0)!
      return ['Change of user min', 'Noticed late', 'Not covered'].filter((title) => head.includes(title))
    }
    const none = { noticed_late: 0, compared: { ...total.compared, known_days: 0 } }
    expect(headOf(none)).toEqual([])
    expect(headOf({ blind_seconds: 60 })).toEqual(['Change of user min', 'Noticed late', 'Not covered'])
  })

  test('has twenty rows of three hundred, and three names of those that callwatch did not see, until all are wanted', () => {
    const names = Array.from({ length: 300 }, (_, i) => `t${i}`)
    const times = blind('now', 600).coverage.blind.slice(0, 1)
    const blindTimes = names.flatMap((target) => [...times, ...times].map((time) => ({ ...time, target })))
    const coverage = { blind_seconds: 600, blind: blindTimes }
    const report = reportOf({ rows: names.map((target) => ({ ...row, target })), coverage })
    const usage = loaded({ report, chart: undefined })
    const rowsIn = (showsAllRows: boolean) => {
      const elements = render(Usage, stateOf([shownTarget()], { view: 'usage', usage, showsAllRows }))
      const table = textOf(elements, { id: 'usage-rows' }) ?? ''
      expect(table).toMatch(/ all 5 /)
      expect(textOf(elements, { id: 'coverage' })).toMatch(/ did not see t0, t1, t2 and 297 more targets\.$/)
      return [table.match(/ t\d+ /g)?.length, table.endsWith('All 300 rows')]
    }
    expect([rowsIn(false), rowsIn(true)]).toEqual([[20, true], [300, false]]) // oxfmt-ignore
  })

  test('begins with the totals, each with its change on the days that are known of both', () => {
    const tiles = (differing: Partial<Report>) =>
      shown(differing).flatMap(({ props, text }) => (props['class'] === 'card tile state' ? text : []))
    expect(tiles({})).toEqual([
      'User minutes (UTC) 15 +100%, known of 34 of 58 target-days',
      'Participant minutes 7.3 ±0%, known of 34 of 58 target-days',
      'Calls 5 ±0%, known of 34 of 58 target-days',
      'Failed 25% +5 points, known of 34 of 58 target-days',
      'Mean duration 1m half are shorter than 50s',
    ])
    const unknown = { targets: 2, days: 58, known_days: 0, now: NONE, before: NONE }
    expect(
      tiles({ total: { ...total, compared: unknown } })
        .slice(0, 4)
        .filter((text) => !text.endsWith(' not compared')),
    ).toEqual([])
  })

  test('says what the message says: the forecast, the worst hour, what fired, and what it is compared with', () => {
    const report = {
      since: '2026-09-01T00:00:00.000Z',
      before: { since: '2026-08-01T00:00:00.000Z', until: '2026-08-21T14:13:20.000Z' },
      worst_hour: { since: '2026-09-12T13:00:00.000Z', calls: 80, failed: 21 },
      fired: [{ alert: 'HighFailureRate', severity: 'critical' as const, times: 1, targets: 2, seconds: 600 }],
      running: true,
      forecast: { until: '2026-10-01T00:00:00.000Z', calls: 7, participant_minutes: 10, user_minutes: 22 },
    }
    const elements = shown(report)
    expect(textOf(elements, { id: 'usage-report-title' })).toBe('Calls in September 2026 so far (UTC)')
    expect(textOf(elements, { id: 'usage-note' })).toBe(
      [
        'At this pace by the end of the month: 7 calls, 10 participant minutes, 22 user minutes',
        'Worst hour, from Sat 2026-09-12 13:00: 21 of 80 calls failed, 26.3%',
        'Fired: HighFailureRate (critical) once on 2 targets, for 10m',
        'Compared with the same days of August 2026',
      ].join(' '),
    )
  })

  test.each([
    ['2026-09-01', true],
    ['2026-08-01', undefined],
    ['30d', undefined],
    ['', true],
    ['moon', 'no buttons'],
  ])(
    'has the months before and after of a period that begins at “%s”: the one after is not there yet: %s',
    (since, disabled) => {
      const query = new URLSearchParams({ since })
      const elements = render(Usage, stateOf([shownTarget({ sync: POLLED })], { view: 'usage', query }))
      const after = elements.find(({ props }) => props['aria-label'] === 'Month after')
      expect(after === undefined ? 'no buttons' : after.props['disabled'] || undefined).toBe(disabled)
    },
  )

  test('is downloaded into a file that names its targets, its first and its last day, and its zone', () => {
    vi.stubEnv('TZ', 'America/Argentina/Ushuaia')
    const report = reportOf({
      since: '2026-08-01T03:00:00.000Z',
      until: '2026-09-01T03:00:00.000Z',
      zone: 'America/Argentina/Ushuaia',
    })
    const usage = loaded({ report, chart: undefined }, 'since=2026-08-01&target=production')
    const elements = render(Usage, stateOf([shownTarget({ sync: POLLED })], { view: 'usage', usage }))
    expect(elements.find(({ text }) => text === 'Download CSV')?.props['download']).toBe(
      'callwatch-usage-production-2026-08-01-to-2026-08-31-America-Argentina-Ushuaia.csv',
    )
  })

  test.each([
    ['nothing', {}, 'All targets were seen throughout this period.'],
    [
      'what has expired',
      blind('expired', 600),
      'Not covered: 10m of this period, in which callwatch did not see or no longer has calls of production.',
    ],
    ['an outage', blind('now', 600), 'Not covered: 10m of this period, in which callwatch did not see production.'],
    [
      'a past outage',
      blind('ended', 20),
      'Not covered: 20s of this period, in which callwatch did not see production.',
    ],
  ])('says that %s is not covered', (_what, coverage, expected) => {
    expect(textOf(shown(coverage), { id: 'coverage' })).toBe(expected)
  })

  test('says when it is not covered, and what that means', () => {
    const rows = shown(blind('before', 7200)).filter(({ type, text }) => type === 'tr' && text.includes('2h'))
    expect(rows.map(({ text }) => text)).toEqual([
      'production 12:13:20 14:13:20 2h The target was not set up yet: earlier calls are missing',
    ])
  })

  test('says that no call finished, and shows no number', () => {
    const elements = shown({ rows: [], total: none })
    expect(textOf(elements, { id: 'usage-note' })).toBe('No call finished in this period.')
    expect(elements.some(({ type }) => type === 'table' || type === 'dl')).toBe(false)
  })
})

describe('the page of a call', () => {
  const call: Details['call'] = {
    target: 'production',
    call_id: 'v1.us.a',
    session_id: 'v1.us.a',
    type: 'audio',
    mode: 'call',
    receiver_type: 'user',
    status: 'ended',
    began: isoTime(NOW - 100),
    finished: isoTime(NOW - 10),
    noticed: isoTime(NOW - 7),
    participants: 2,
    minutes: media,
    participant_minutes: { audio: 3, video: 4 },
    duration_seconds: 3725,
    has_recording: false,
  }
  const details: Details = {
    call,
    first_seen: isoTime(NOW - 90),
    at_its_end: { status: 'ended', minutes: media },
    status_now: 'ended',
    events_since: isoTime(NOW - 1000),
    events: [],
    others: { calls: [], more: 0 },
  }
  const shown = (differing: Partial<Details> = {}) => {
    const callPage = loaded({ ...details, ...differing })
    const query = new URLSearchParams({ target: 'production', call_id: 'v1.us.a' })
    return render(CallDetails, stateOf([shownTarget({ sync: POLLED })], { view: 'call', query, callPage }))
  }
  const fact = (name: string, given: Partial<Details> = {}) => {
    const elements = shown(given)
    return elements[elements.findIndex(({ type, text }) => type === 'dt' && text === name) + 1]?.text
  }

  test('has its times and its duration', () => {
    expect(fact('Finished')).toBe('14:13:10 UTC')
    expect(fact('Noticed')).toBe('14:13:13 UTC, 3s after its end')
    expect(fact('Duration')).toBe('1h 2m 5s')
    expect(fact('Answer delay')).toBe('not known')
  })

  test('says the session, and lists the other calls of it with a link to each and to all', () => {
    const others: Details['others'] = {
      calls: [
        { ...call, call_id: 'cw:2', session_id: 'room', status: 'ongoing', began: isoTime(NOW - 5) },
        { ...call, call_id: 'room', session_id: 'room', duration_seconds: 65, began: isoTime(NOW - 4000) },
      ],
      more: 3,
    }
    const given = { call: { ...call, call_id: 'cw:1', session_id: 'room' }, others }
    const elements = shown(given)
    expect(fact('Session', given)).toBe('room')
    expect(textOf(elements, { id: 'call-others' })).toBe(
      'Other calls of this session UTC Other calls of this session, newest first Began Status Duration ' +
        '14:13:15 ongoing 1h 2m 13:06:40 ended 1m 5s 3 more',
    )
    expect(elements.flatMap(({ props: { href } }) => (/(?:room|cw).*#/.test(String(href)) ? [href] : []))).toEqual([
      './?target=production&call_id=cw%3A2#call',
      './?target=production&call_id=room#call',
      './?target=production&session_id=room#calls',
    ])
    expect(textOf(shown(), { id: 'call-others' })).toBeUndefined()
  })

  test.each([
    [{ call_id: 'cw:1' }, 'Call cw:1'],
    [{ session_id: 'room' }, 'Call room'],
  ])('is that of the call id of its address, which an older address has as session id: %j', (named, title) => {
    const query = new URLSearchParams({ target: 'production', ...named })
    const elements = render(CallDetails, stateOf([], { view: 'call', query }))
    expect(elements.find(({ type }) => type === 'h2')?.text).toBe(title)
  })

  test.each(['unanswered', 'rejected', 'canceled'] as const)(
    'that is %s was never answered, and has no duration',
    (status) => {
      const { duration_seconds: _, ...unanswered } = call
      expect(fact('Answer delay', { call: { ...unanswered, status } })).toBe('never answered')
      expect(shown({ call: { ...unanswered, status } }).some(({ text }) => text === 'Duration')).toBe(false)
    },
  )

  test('begins with what it was, its times, what its outcome means, and where to look next', () => {
    const { duration_seconds: _, ...unanswered } = call
    const elements = shown({ call: { ...unanswered, status: 'unanswered' } })
    expect(textOf(elements, { id: 'call-title' })).toBe(
      'Audio call to a user, 14:11:40 UTC: rang 1m 30s, nobody answered.',
    )
    expect(textOf(elements, { class: 'plain times' })).toBe('14:11:40 rings 14:13:10 unanswered')
    expect(elements.find(({ type, text }) => type === 'p' && text.startsWith('Unanswered'))?.text).toMatch(
      /^Unanswered means that the caller’s app gave up, .* What to check \. Its session has no other call\.$/,
    )
    const links = elements.flatMap(({ type, props, text }) => (type === 'a' ? [[text, props['href']]] : []))
    expect(links).toEqual([
      ['Calls', './?target=production#calls'],
      ['What to check', 'runbooks/HighFailureRate'],
      [
        'Calls at that time',
        './?target=production&since=2026-09-21T14%3A06%3A40Z&until=2026-09-21T14%3A18%3A10Z#calls',
      ],
      ['As JSON', 'api/v1/call?target=production&call_id=v1.us.a'],
    ])
    expect(elements.find(({ type }) => type === 'details')?.text).toMatch(/^How callwatch saw it Facts Status unans/)
  })

  test('has a meaning of each status, whose runbook is served', async () => {
    const pages = await runbookPages()
    for (const status of HISTORY_STATUSES) {
      const { text, runbook } = meaningOf({ status, mode: 'call' })
      expect(text).toMatch(/^means that .*\.$/)
      if (runbook !== undefined) expect(pages.has(`runbooks/${runbook}.html`)).toBe(true)
    }
  })

  test('asks the service for its session where the daemon may, and shows no answer about another one', async () => {
    withoutBrowser()
    const asked: string[] = []
    vi.stubGlobal('fetch', async (address: string) => {
      asked.push(address)
      const calls = [{ session_id: 'v1.us.a', began: null, text: 'audio, to bob: rang 44s, nobody answered' }]
      return new Response(JSON.stringify({ target: 'production', calls, filter: 'none', unclear: 0, complete: true }))
    })
    const { snapshot, ...state } = stateOf([shownTarget()], { callPage: loaded(details) })
    change({ ...state, snapshot: { ...snapshot!, can_find: true } })
    const button = () =>
      render(CallDetails, current()).find(({ type, text }) => type === 'button' && text.startsWith('Ask'))
    const found = () => textOf(render(CallDetails, current()), { id: 'found-calls' })
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a button has it
    const press = button()!.props['onClick'] as () => void
    press()
    await vi.waitFor(() => expect(found()).toContain('at an unknown time audio, to bob: rang 44s, nobody answered'))
    expect(asked).toEqual(['api/v1/find?target=production&session_id=v1.us.a'])
    change({ callPage: loaded({ ...details, call: { ...call, session_id: 'another' } }) })
    expect(found()).toBeUndefined()
    change({ snapshot })
    expect(button()).toBeUndefined()
  })

  test('says which rules of its kind of calls fired on its target during it, and on how many targets', async () => {
    withoutBrowser()
    const [since, asked] = [isoTime(NOW - 60), [] as string[]]
    const video = { target: 'production', alert: 'VideoFails', labels: { type: 'video' }, since }
    const own = { ...video, alert: 'HighFailureRate', labels: {} }
    vi.stubGlobal('fetch', async (address: string) => {
      if (address.startsWith('api/v1/call?')) return new Response(JSON.stringify(details))
      asked.push(address)
      const alerts = address.includes('target=') ? [video, own] : [own, { ...own, target: 'staging' }]
      return new Response(JSON.stringify({ alerts }))
    })
    const query = new URLSearchParams({ target: 'production', call_id: 'v1.us.a' })
    change({ ...stateOf([shownTarget()]), query })
    await loadCall()
    const times = new URLSearchParams({ since: call.began, until: '2026-09-21T14:13:10.001Z' })
    expect(asked).toEqual([`api/v1/alerts?target=production&${times}`, `api/v1/alerts?alert=HighFailureRate&${times}`])
    const elements = render(CallDetails, current())
    expect(textOf(elements, { id: 'call-meanwhile' })).toBe(
      'Meanwhile: HighFailureRate on 2 targets, from 14:12:20 UTC',
    )
    const addresses = elements.map(({ props }) => props['href'])
    expect(addresses).toContain(`./?${new URLSearchParams({ alert: 'HighFailureRate', since })}#incident`)
    const another = { call: { ...call, call_id: 'cw:2' } }
    expect(
      textOf(render(CallDetails, { ...current(), callPage: loaded({ ...details, ...another }) }), {
        id: 'call-meanwhile',
      }),
    ).toBeUndefined()
  })

  test('says which rules have counted it that fired after its end, and on how many targets, and no others', async () => {
    withoutBrowser()
    const asked: string[] = []
    const fired = (alert: string, since: number, from: number, more: object = {}) => {
      const period = { since: isoTime(from), until: isoTime(NOW + 300) }
      const calls_url = `/api/v1/calls?${new URLSearchParams(period)}`
      return { target: 'production', alert, labels: {}, match: {}, since: isoTime(since), calls_url, ...more }
    }
    const failing = fired('HighFailureRate', NOW + 200, NOW - 700)
    const alerts = [
      failing,
      fired('Meetings', NOW + 200, NOW - 700, { match: { mode: 'meet' } }),
      fired('Later', NOW + 200, NOW - 5),
      fired('Open', NOW + 200, NOW - 700, { calls_url: undefined }),
    ]
    vi.stubGlobal('fetch', async (address: string) => {
      if (address.startsWith('api/v1/call?')) return new Response(JSON.stringify(details))
      asked.push(address)
      const all = [failing, { ...failing, target: 'a' }, fired('HighFailureRate', NOW + 200, NOW - 5, { target: 'b' })]
      return new Response(JSON.stringify({ alerts: address.includes('target=') ? alerts : all }))
    })
    const query = new URLSearchParams({ target: 'production', call_id: 'v1.us.a' })
    change({ ...stateOf([shownTarget({ rules: [RATIO_RULE] })]), query })
    await loadCall()
    expect(new URLSearchParams(asked[0]).get('until')).toBe('2026-09-21T14:28:10.001Z')
    expect(asked).toHaveLength(2)
    expect(textOf(render(CallDetails, current()), { id: 'call-meanwhile' })).toBe(
      'Counted by: HighFailureRate on 2 targets, from 14:16:40 UTC',
    )
  })

  test('that an address names by its session and its beginning is the call that began nearest to it', async () => {
    withoutBrowser()
    const other = { ...call, call_id: 'cw:2', began: isoTime(NOW - 5) }
    vi.stubGlobal('fetch', async (address: string) => {
      const first = { ...details, others: { calls: [other], more: 0 } }
      return new Response(JSON.stringify(address.includes('cw') ? { ...details, call: other } : first))
    })
    const loadedId = async (began: string) => {
      change({ query: new URLSearchParams({ target: 'production', session_id: 'v1.us.a', began }) })
      await loadCall()
      return current().callPage.answer?.call.call_id
    }
    expect([await loadedId(isoTime(NOW - 6)), await loadedId(call.began)]).toEqual(['cw:2', 'v1.us.a'])
  })

  test('says that an end that the service does not say is at the earliest then', () => {
    const unknown = { call: { ...call, end_unknown: true as const } }
    expect(fact('Finished, at the earliest', unknown)).toBe('14:13:10 UTC')
    expect(fact('Noticed', unknown)).toBe('14:13:13 UTC, 3s after that')
  })

  test('says that its end was noticed late', () => {
    const late = { ...call, finished: isoTime(NOW - 7000), noticed: isoTime(NOW) }
    expect(fact('Noticed', { call: late })).toBe('14:13:20 UTC noticed late 1h 56m after its end')
  })

  test('says that callwatch noticed no end of a call from before it watched', () => {
    const earlier = { ...call, noticed: call.finished! }
    expect(fact('Noticed', { call: earlier, first_seen: isoTime(NOW) })).toBe('it finished before callwatch watched')
  })

  test('says that its end is not known, and of a meeting that all have left', () => {
    const noEnd = { ...call, status: 'rejected' as const, finished: call.began }
    expect(textOf(shown({ call: noEnd }), { class: 'plain times' })).toBe('14:11:40 rings; when it ended is not known')
    const meeting = shown({ call: { ...call, mode: 'meet' } })
    expect(meeting.some(({ type, text }) => type === 'p' && text.startsWith('Ended means that all have left'))).toBe(
      true,
    )
  })

  test('that callwatch does not know leads to the calls of the session of this id', () => {
    const query = new URLSearchParams({ target: 'production', call_id: 'room' })
    const callPage = { ...loaded(undefined), problem: 'The call could not be loaded: no call room is known.' }
    const elements = render(CallDetails, stateOf([], { view: 'call', query, callPage }))
    const link = elements.find(({ text, type }) => type === 'a' && text === 'Calls of this session')
    expect(link?.props['href']).toBe('./?target=production&session_id=room#calls')
  })

  test('says that a lost call was never seen to end', () => {
    const lost = { ...call, status: 'lost' as const }
    const { at_its_end: _, ...others } = details
    expect(fact('Lost', { ...others, call: lost })).toBe('14:13:10 UTC')
    expect(fact('Finished', { call: lost })).not.toBe('14:13:10 UTC')
    expect(textOf(shown({ call: lost }), { id: 'call-title' })).toContain('callwatch never saw its end')
  })

  test('shows what the service has changed after its end, and nothing else', () => {
    const changed = { at_its_end: { status: 'ended' as const, minutes: { audio: 0.5, video: 2 } } }
    const corrections = (given: Partial<Details>) => textOf(shown(given), { id: 'call-corrections' })
    expect(corrections({})).toBe('Corrections Nothing has changed since its end.')
    const [status, audio] = ['Status ended rejected', 'Audio minutes 0.5 1']
    expect(corrections({ ...changed, status_now: 'rejected' })).toContain(` Now ${status} ${audio} The call stays`)
    expect(shown({ status_now: 'rejected' }).some(({ text }) => text === 'The call stays counted as ended.')).toBe(true)
  })

  test('lists its transitions, and says which are not kept', () => {
    const step = { ...call, status: 'ended' as const, detected_at: isoTime(NOW - 7), backfilled: false }
    const events: Details['events'] = [
      { type: 'callwatch.call.ongoing', time: isoTime(NOW - 80), data: { ...step, from: 'none', to: 'ongoing' } },
      {
        type: 'callwatch.call.ended',
        time: call.finished!,
        data: { ...step, from: 'ongoing', to: 'ended', inferred: true },
      },
      {
        type: 'callwatch.call.corrected',
        time: isoTime(NOW),
        data: {
          ...step,
          before: { status: 'ended', minutes: { audio: 0.5, video: 2 } },
          after: { status: 'rejected' },
        },
      },
      { type: 'callwatch.call.details', time: isoTime(NOW), data: step },
    ]
    const items = (given: Partial<Details>) =>
      shown(given).flatMap(({ type, text }) => (type === 'li' && text.includes('seen') ? [text] : []))
    expect(items({ events })).toEqual([
      '14:12:00 ongoing seen 14:13:13',
      '14:13:10 ongoing → ended seen 14:13:13, inferred',
      '14:13:20 corrected : ended → rejected, audio 0.5 → 1 min seen 14:13:13',
    ])
    const texts = (given: Partial<Details>) => shown(given).map(({ text }) => text)
    const missing = 'Events before 14:12:30 UTC are not kept.'
    expect(texts({ events: events.slice(1), events_since: isoTime(NOW - 50) })).toContain(missing)
    expect(texts({ events, events_since: isoTime(NOW - 50) })).not.toContain(missing)
    const { events_since: _, ...none } = details
    const without = render(CallDetails, stateOf([], { callPage: loaded(none) }))
    expect(without.map(({ text }) => text)).toContain('No events are kept.')
  })
})

test.each([
  [
    '/api/v1/calls?target=p&type=video&status=unanswered%2Crejected&since=A&until=B',
    './?target=p&type=video&status=unanswered%2Crejected&since=A&until=B#calls',
  ],
  ['/api/v1/calls?target=p&mode=call', './?target=p&status=in_progress&mode=call#calls'],
])('the calls of %s are shown at %s', (request, address) => {
  expect(addressOfCalls(request)).toBe(address)
})

test('a load has ended when its answer is there, also where the same was requested twice meanwhile', async () => {
  withoutBrowser()
  const request = () => load('matched', 'target=a', () => Promise.resolve(3), 'Nothing matches')
  await request()
  await Promise.all([request(), request()])
  expect(current().matched).toMatchObject({ answer: 3, isLoading: false })
})
