import type { Page } from 'playwright-core'
import { parseMoment } from '../../../src/history/moment.ts'
import type { SeriesPoint } from '../../../src/views/series.ts'
import type { SeriesView } from '../../../src/views/series.ts'
import { isoTime } from '../../../src/clock/times.ts'
import { NOW } from '../../kit/metrics/hand-made-target.ts'

const HOUR = 3600
const STEPS = [60, 300, 900, HOUR, 3 * HOUR, 6 * HOUR, 24 * HOUR]
const MAX_POINTS = 120

/** Four days without any history, and an outage of 50 minutes of production. */
const FIRST_SEEN = NOW - 40 * 24 * HOUR
const OUTAGE = { since: isoTime(NOW - 9 * HOUR), until: isoTime(NOW - 8 * HOUR - 600) }

const RATIO = { signal: 'failure_ratio', breach: 'above', threshold: 0.3, peak: 0.6, outcome: 'resolved' }
const UNTOLD = { notified: [], suppressed: [], blind: [], values: [] }
export const EPISODES = [
  {
    target: 'production',
    alert: 'HighFailureRate',
    key: '',
    severity: 'warning',
    labels: { mode: 'call' },
    since: isoTime(NOW - 5 * HOUR),
    until: isoTime(NOW - 3.5 * HOUR),
    ...RATIO,
    ...UNTOLD,
  },
  {
    target: 'production',
    alert: 'VeryHighFailureRate',
    key: '',
    severity: 'critical',
    labels: {},
    since: isoTime(NOW - 4.5 * HOUR),
    until: isoTime(NOW - 4 * HOUR),
    ...RATIO,
    ...UNTOLD,
  },
]

/** What `/api/v1/series` answers to this query: calls that follow the time of day, with a burst of failures in {@link EPISODES}. */
export function cannedSeries(query: URLSearchParams): SeriesView {
  const time = (name: string) => parseMoment(query.get(name) ?? isoTime(NOW), undefined, NOW)!
  const [since, until] = [time('since'), time('until')]
  const step = Number(query.get('step') ?? STEPS.find((one) => (until - since) / one <= MAX_POINTS))
  const [from, to] = [Math.floor(since / step) * step, Math.ceil(until / step) * step]
  const share = query.has('type') ? 0.6 : 1
  const points = Array.from({ length: (to - from) / step }, (_, i) => pointAt(from + i * step, step, share))
  return {
    since: isoTime(from),
    until: isoTime(to),
    step_seconds: step,
    points,
    total: { ...pointAt(NOW - 24 * HOUR, 24 * HOUR, share), calls: totalOf(points) },
    coverage: coverageOf(from, to),
  }
}

function totalOf(points: readonly SeriesPoint[]): SeriesPoint['calls'] {
  const sum = (of: keyof SeriesPoint['calls']) => points.reduce((all, { calls }) => all + calls[of], 0)
  const [ended, unanswered, rejected] = [sum('ended'), sum('unanswered'), sum('rejected')]
  return { ended, unanswered, rejected, canceled: sum('canceled'), other: sum('other'), lost: sum('lost') }
}

function coverageOf(from: number, to: number): SeriesView['coverage'] {
  const before = {
    target: 'production',
    kind: 'before' as const,
    since: isoTime(from),
    until: isoTime(Math.min(to, FIRST_SEEN)),
  }
  const outage = { target: 'production', kind: 'ended' as const, ...OUTAGE }
  const isIn = (one: { since: string; until: string }) =>
    Date.parse(one.since) < to * 1000 && Date.parse(one.until) > from * 1000
  const blind = [...(from < FIRST_SEEN ? [before] : []), ...(isIn(outage) ? [outage] : [])]
  const length = (one: (typeof blind)[number]) => (Date.parse(one.until) - Date.parse(one.since)) / 1000
  return { blind_seconds: blind.reduce((sum, one) => sum + length(one), 0), blind }
}

function pointAt(at: number, step: number, share: number): SeriesPoint {
  const noise = (seed: number) => Math.abs(Math.sin((at / 60) * 12.9898 + seed * 78.233) * 43_758.5453) % 1
  const daily = 0.55 + 0.45 * Math.sin(((at % (24 * HOUR)) / (24 * HOUR)) * 2 * Math.PI - 2)
  const isKnown = at >= FIRST_SEEN
  const isOver = at + step <= NOW
  const seconds = isOver ? step : Math.max(0, NOW - at)
  const calls = isKnown ? (daily * (0.85 + 0.3 * noise(1)) * share * seconds) / 20 : 0
  const isBad = at < NOW - 3.6 * HOUR && at + step > NOW - 5 * HOUR
  const part = (fraction: number, seed: number) => Math.round(calls * fraction * (0.5 + noise(seed)))
  const failures = {
    unanswered: part(isBad ? 0.3 : 0.06, 2),
    rejected: part(isBad ? 0.22 : 0.03, 3),
    canceled: part(0.02, 4),
  }
  const failed = failures.unanswered + failures.rejected + failures.canceled
  const ended = Math.max(0, Math.round(calls) - failed)
  const all = ended + failed
  const minutes = { audio: ended * 3.1, video: ended * 1.4 }
  return {
    at: isoTime(at),
    calls: { ended, ...failures, other: 0, lost: part(0.004, 6) },
    minutes,
    participant_minutes: { audio: minutes.audio * 2, video: minutes.video * 2 },
    user_minutes: (minutes.audio + minutes.video) * 2.2,
    failure_ratio: all === 0 ? null : failed / all,
    invited: { joined: 3 * ended, absent: Math.round(ended * 0.6 * noise(12)) + failed, unknown: 0 },
    not_joined_ratio: all === 0 ? null : 0.1 + 0.2 * noise(12),
    duration_seconds:
      all === 0
        ? { mean: null, p50: null, p95: null }
        : { mean: 240, p50: 150 + 60 * noise(7), p95: 900 + 500 * noise(8) },
    answer_delay_seconds: all === 0 ? { p50: null, p95: null } : { p50: 5 + 2 * noise(9), p95: 15 + 9 * noise(10) },
    in_progress: !isKnown || at > NOW ? null : Math.round(daily * 14 * share + 3 * noise(11)),
  }
}

/** Answers the requests of the charts of a page with {@link cannedSeries} and {@link EPISODES}; returns those requests. */
export async function cannedCharts(page: Page): Promise<URL[]> {
  const requests: URL[] = []
  await page.route('**/api/v1/series?*', async (route) => {
    const url = new URL(route.request().url())
    requests.push(url)
    await route.fulfill({ json: cannedSeries(url.searchParams) })
  })
  await page.route('**/api/v1/alerts?*', (route) => route.fulfill({ json: { alerts: EPISODES } }))
  return requests
}
