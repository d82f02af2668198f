import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as wait } from 'node:timers/promises'
import { type CallsQuery, listCalls } from '../../src/history/list-calls.ts'
import { seriesOf, type SeriesQuery } from '../../src/history/series.ts'
import { updateRollups } from '../../src/history/rollups.ts'
import { USAGE_KEYS, type UsageKey } from '../../src/history/usage-keys.ts'
import { usageOf } from '../../src/history/usage.ts'
import { computeDelta } from '../../src/ledger/delta/compute-delta.ts'
import { applyDelta } from '../../src/ledger/state.ts'
import { random } from '../../src/simulator/random.ts'
import { openStore, type DaemonStoreAddress } from '../../src/store/open-store.ts'
import { percentile } from '../scenario.ts'
import { answer, forkedWith } from './answer.ts'

/** Milliseconds, but reports in seconds. */
export type Queried = {
  /** The 99th percentile of pages, and what the slowest one selected. */
  pages: number
  slowestPages: string
  /** How many pages were not full though there was more to search. */
  searching: number
  /** The same of series, and the median of those of all days and targets. */
  charts: number
  slowestCharts: string
  longest: number
  /** How long all calls took to be added up (seconds). */
  rollups: number
  commits: number
  eventLoop: number
  report: number
  reportByDay: number
}

const { address, now, days } = forkedWith<{ address: DaemonStoreAddress; now: number; days: number }>()
const QUERIES = 400
const CHARTS = 100
const LONGEST = 15
/** As the page asks. */
const SEARCH_SECONDS = 0.08
const COMMIT_EVERY_MS = 100
/** Calls that are in progress, of which each commit changes all. */
const CALLS_A_COMMIT = 20
/** In so many commits one call finishes: as many a day as the history has. */
const COMMITS_A_FINISH = 3

answer(async (): Promise<Queried> => {
  const store = await openStore(address, [])
  await store.cluster?.join('bench', '{}', {})
  const filling = performance.now()
  let after = await updateRollups(store, now)
  while (after !== undefined) after = await updateRollups(store, now, after)
  const rollups = (performance.now() - filling) / 1000
  const { ledger } = await store.openTarget({ name: 'polled', fingerprint: '' }, now, 86_400)
  await store.cluster?.acquire(['polled'], 1)
  const commits: number[] = []
  const done = new AbortController()
  const committing = (async () => {
    for (let n = 0; !done.signal.aborted; n++) {
      const calls = Array.from({ length: CALLS_A_COMMIT }, (_, i) => polledCall(`polled-${i}`, 1 + (n % 9)))
      if (n % COMMITS_A_FINISH === 0) calls.push(polledCall(`finished-${n}`))
      const at = { serviceTime: now, hostTime: now }
      const observation = { answers: [{ source: 'list' as const, ...at, calls, notFound: [], invalid: {} }] }
      const delta = computeDelta(ledger, observation, { lookback: 86_400, baseline: 'count', details: 'never' })!
      const begun = performance.now()
      await store.commit('polled', { ledger: delta, alerts: { changed: [], ended: [], notifications: [] } }) // oxfmt-ignore
      commits.push(performance.now() - begun)
      applyDelta(ledger, delta, 86_400)
      await wait(COMMIT_EVERY_MS)
    }
  })()
  await wait(500)
  const turns = monitorEventLoopDelay({ resolution: 1 })
  turns.enable()
  const draw = random(2, 'queries')
  const took: { milliseconds: number; query: CallsQuery }[] = []
  let searching = 0
  for (let i = 0; i < QUERIES; i++) {
    const query = drawnQuery(draw)
    const begun = performance.now()
    const { calls, next } = await listCalls(store, query, { limit: 50, searchSeconds: SEARCH_SECONDS })
    took.push({ milliseconds: performance.now() - begun, query })
    if (calls.length < 50 && next !== undefined) searching += 1
  }
  const charts: { milliseconds: number; query: SeriesQuery }[] = []
  for (let i = 0; i < CHARTS; i++) {
    const query = drawnSeries(draw)
    const asked = performance.now()
    await seriesOf(store, query, now)
    charts.push({ milliseconds: performance.now() - asked, query })
  }
  const longest: number[] = []
  for (let i = 0; i < LONGEST; i++) {
    const asked = performance.now()
    await seriesOf(store, { from: now - days * 86_400, to: now }, now)
    longest.push(performance.now() - asked)
  }
  turns.disable()
  const secondsOf = async (by: readonly UsageKey[]) => {
    const begun = performance.now()
    await usageOf(store, { from: now - days * 86_400, to: now, zone: 'Europe/Berlin', by })
    return (performance.now() - begun) / 1000
  }
  // By labels afterwards, which reads other rows.
  const reportByDay = await secondsOf(['day'])
  const report = await secondsOf(USAGE_KEYS)
  done.abort()
  await committing
  await store.close()
  return {
    pages: p99Of(took),
    slowestPages: slowestOf(took),
    charts: p99Of(charts),
    slowestCharts: slowestOf(charts),
    searching,
    longest: percentile(longest, 0.5),
    rollups,
    commits: percentile(commits, 0.99),
    eventLoop: turns.max / 1e6,
    report,
    reportByDay,
  }
})

type Took = readonly { milliseconds: number; query: object }[]

const p99Of = (took: Took) => percentile(took.map(({ milliseconds }) => milliseconds), 0.99) // oxfmt-ignore

function slowestOf(took: Took): string {
  const slowest = took.reduce((worst, each) => (each.milliseconds > worst.milliseconds ? each : worst))
  return `${Math.round(slowest.milliseconds)} ms, ${JSON.stringify(slowest.query)}`
}

/** What users select: mostly one thing or two, anywhere in the history. */
function drawnQuery(draw: () => number): CallsQuery {
  const pick = <T>(values: readonly T[], share: number): T | undefined =>
    draw() < share ? values[Math.floor(draw() * values.length)] : undefined
  const until = now - (pick([0, 1, 7, 20, 34], 0.4) ?? 0) * 86_400
  return {
    since: pick([now - 3600, now - 7 * 86_400], 0.3) ?? 0,
    until,
    targets: pick([['target-1'], ['target-2', 'target-3'], ['none']], 0.4),
    type: pick(['audio', 'video', 'other'] as const, 0.2),
    mode: pick(['call', 'presenter', 'other'] as const, 0.1),
    receiverType: pick(['group', 'other'] as const, 0.1),
    statuses: pick(
      [['ended'], ['rejected'], ['canceled'], ['unanswered', 'rejected', 'canceled'], ['lost'], ['other']] as const,
      0.3,
    ),
    hasRecording: pick([true], 0.1),
    sessionIds: pick(
      ['v1.us.0', 'v1.us.00ab', 'v1.us.00abc1', 'none'].map((given) => ({ given, others: new Map() })),
      0.15,
    ),
  }
}

/** The ranges of the page, mostly up to now. */
function drawnSeries(draw: () => number): SeriesQuery {
  const pick = <T>(values: readonly T[], share = 1): T | undefined =>
    draw() < share ? values[Math.floor(draw() * values.length)] : undefined
  const to = now - (pick([1, 7, 20], 0.2) ?? 0) * 86_400
  return {
    from: to - pick([3600, 86_400, 7 * 86_400, days * 86_400])!,
    to,
    targets: pick([['target-1'], ['target-2', 'target-3']], 0.4),
    type: pick(['audio', 'video'] as const, 0.2),
    mode: pick(['call', 'presenter'] as const, 0.1),
  }
}

/** @param joined how many are in it; undefined of one that has ended */
function polledCall(id: string, joined?: number) {
  const nothing = { audio: undefined, video: undefined, total: undefined }
  return {
    id,
    session: id,
    mid: undefined,
    status: joined === undefined ? ('ended' as const) : ('ongoing' as const),
    type: 'audio' as const,
    mode: 'call' as const,
    receiverType: 'user' as const,
    initiatedAt: now - 60,
    startedAt: now - 50,
    endedAt: joined === undefined ? now : undefined,
    callMinutes: nothing,
    participantMinutes: nothing,
    hasParticipantList: true,
    totalParticipants: 9,
    joined: joined ?? 0,
    hasRecording: false,
    badValue: false,
  }
}
