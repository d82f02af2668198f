import { expect, test } from 'vitest'
import { labelsOf } from '../../../src/ledger/call.ts'
import { finish, finishedCall, POLLED, NOW, openCall, RATIO_RULE } from '../../kit/metrics/hand-made-target.ts'
import { readExposition, type Family } from '../../kit/metrics/read-exposition.ts'
import { usedMinutes } from '../../../src/views/state/target.ts'
import { KNOWN_LIST } from '../../kit/ledger/seen.ts'
import { serve, shownTarget } from '../../kit/web/serve.ts'

const COUNTERS = {
  'callwatch_calls_started_total|audio|call|user': 30,
  'callwatch_calls_started_total|video|meet|group': 3,
  'callwatch_calls_total|audio|call|user|ended': 11,
  'callwatch_calls_total|video|meet|group|ended': 2,
  'callwatch_calls_total|audio|call|user|unanswered': 3,
  'callwatch_calls_total|audio|call|group|rejected': 5,
  'callwatch_calls_total|audio|call|group|canceled': 7,
  'callwatch_calls_total|other|call|group|other': 1,
  callwatch_calls_lost_total: 2,
  'callwatch_call_minutes_total|audio|call|user|audio': 10.25,
  'callwatch_call_minutes_total|video|meet|group|audio': 1.5,
  'callwatch_call_minutes_total|video|meet|group|video': 4.75,
  'callwatch_participant_minutes_total|audio': 20.5,
  'callwatch_participant_minutes_total|video': 9.5,
}

async function statusOf(...targets: ReturnType<typeof shownTarget>[]) {
  const { url } = await serve(targets)
  const response = await fetch(`${url}/api/v1/state`)
  return { url, status: JSON.parse(await response.text()) }
}

test('/api/v1/state has the documented shape', async () => {
  const calls = [openCall('a', { joined: 3 }), finishedCall('b')]
  const { status } = await statusOf(shownTarget({ counters: COUNTERS, calls, sweepAge: 20 }))
  expect(status).toEqual({
    version: '1.2.3',
    now: '2026-09-21T14:13:20.000Z',
    problem: null,
    incidents: [],
    alerts: [],
    receivers: [
      { name: 'slack', pending: 0 },
      { name: 'pager', pending: 0 },
    ],
    webhooks: [],
    silences: [],
    read_only: true,
    can_find: false,
    needs_config: false,
    targets: [
      {
        name: 'production',
        up: true,
        state: 'up',
        created: '2026-09-21T13:13:20.000Z',
        counted_since: '2026-09-21T13:13:20.000Z',
        horizon: '2026-09-20T13:13:20.000Z',
        commit: 0,
        interval_seconds: 15,
        effective_interval_seconds: null,
        clock_skew_seconds: 0,
        last_success: '2026-09-21T14:13:20.000Z',
        lag_seconds: 5,
        sweep_age_seconds: 20,
        tracked_calls: 2,
        in_progress: 1,
        in_progress_by: [{ type: 'audio', mode: 'call', calls: 1 }],
        participants_in_progress: 3,
        started: 33,
        finished: { ended: 13, unanswered: 3, rejected: 5, canceled: 7, other: 1, lost: 2 },
        minutes: { audio: 11.75, video: 4.75 },
        participant_minutes: { audio: 20.5, video: 9.5 },
        participant_minutes_today: { since: '2026-09-21T00:00:00.000Z', minutes: 0 },
        participant_minutes_this_month: { since: '2026-09-01T00:00:00.000Z', minutes: 0 },
        windows: ['15m', '1h', '24h'].map((window) =>
          expect.objectContaining({ window, calls: 0, failure_ratio: null }),
        ),
        rules: [],
        requests_last_minute: 3,
        max_requests_per_minute: 400,
        rate_limit_pause_seconds: 0,
      },
    ],
  })
})

test('/api/v1/state reports a sweep that takes longer than its interval', async () => {
  const { status } = await statusOf(
    shownTarget({ slowSweep: { pages: 5000, seconds: 1200, polls: 20 } }),
    shownTarget({ target: 'b' }),
  )
  expect(status.targets[0].slow_sweep).toEqual({ pages: 5000, seconds: 1200, polls: 20 })
  expect(status.targets[1]).not.toHaveProperty('slow_sweep')
})

test.each([
  ['up', {}],
  ['up', { problem: 'the list is too long', fault: 'list' }],
  ['failing', { problem: 'the service answered 503' }],
  ['stale', { pollAge: 46 }],
  ['stale', { pollAge: 46, problem: 'the service answered 503' }],
  ['initial sync', { sync: {} }],
  ['initial sync', { sync: {}, problem: 'the list is being read', fault: 'list' }],
  ['never polled', { sync: {}, problem: 'the key is wrong' }],
] as const)('a target is %s: %j', async (state, made) => {
  const { status } = await statusOf(shownTarget(made))
  expect(status.targets[0].state).toBe(state)
})

test('/api/v1/state has the problem of a failing target', async () => {
  const { status } = await statusOf(shownTarget({ problem: 'the key is wrong' }), shownTarget({ target: 'b' }))
  expect(status.targets[0]).toMatchObject({ name: 'production', up: false, problem: 'the key is wrong' })
  expect(status.targets[1]).toMatchObject({ name: 'b', up: true })
  expect(status.targets[1]).not.toHaveProperty('problem')
})

test('/api/v1/state has warnings about the list and the clocks', async () => {
  const sync = { ...POLLED, clockSkew: 7300, list: KNOWN_LIST, lastSweepBegan: undefined }
  const { status } = await statusOf(shownTarget({ sync }), shownTarget({ target: 'b', sync: POLLED }))
  const [warned, fine] = status.targets
  expect(warned.clock_skew_seconds).toBe(7300)
  expect(warned.warnings.map(({ kind }: { kind: string }) => kind)).toEqual(['clock_skew', 'order_unverified'])
  expect(fine.warnings).toBeUndefined()
})

test('/api/v1/state says why no webhook of the service may have come, where some are accepted', async () => {
  const target = shownTarget()
  const nothing = () => ({ announced: 0, missed: 0, lags: [] })
  const accepting = { ...target, ends: { isSilent: () => true, note: () => undefined, count: nothing } }
  const { status } = await statusOf(accepting, shownTarget({ target: 'b' }))
  expect(status.targets.map(({ warnings }: { warnings?: object }) => warnings)).toEqual([
    [
      {
        kind: 'no_webhooks',
        message: expect.stringMatching(
          /^calls have ended, and no webhook .* has come: .*password.*legacy webhooks.*each trigger.*plan/,
        ),
      },
    ],
    undefined,
  ])
})

test('/api/v1/state has the progress of a sweep', async () => {
  const { status } = await statusOf({ ...shownTarget(), progress: () => ({ pagesRead: 12, pages: undefined }) })
  expect(status.targets[0].listing).toEqual({ pages_read: 12, pages: null, seconds_left: null })
})

test('/api/v1/state has no last success and no sweep before the initial sync', async () => {
  const { status } = await statusOf(shownTarget({ sync: {} }))
  expect(status.targets[0]).toMatchObject({ last_success: null, sweep_age_seconds: null })
})

test('/api/v1/state has sums that equal the counters of /metrics at the same commit', async () => {
  const calls = [openCall('a'), openCall('b', { status: 'initiated' })]
  const { url, status } = await statusOf(shownTarget({ counters: COUNTERS, calls, sync: POLLED }))
  const families = readExposition(await (await fetch(`${url}/metrics`)).text())
  const [target] = status.targets
  for (const outcome of ['ended', 'unanswered', 'rejected', 'canceled', 'other']) {
    expect(target.finished[outcome]).toBe(sum(families, 'callwatch_calls_total', { status: outcome }))
  }
  expect(target.finished.lost).toBe(sum(families, 'callwatch_calls_lost_total'))
  expect(target.started).toBe(sum(families, 'callwatch_calls_started_total'))
  expect(target.in_progress).toBe(sum(families, 'callwatch_calls_in_progress'))
  expect(target.participants_in_progress).toBe(sum(families, 'callwatch_participants_in_progress'))
  for (const media of ['audio', 'video']) {
    expect(target.minutes[media]).toBe(sum(families, 'callwatch_call_minutes_total', { media }))
    expect(target.participant_minutes[media]).toBe(sum(families, 'callwatch_participant_minutes_total', { media }))
  }
  expect(sum(families, 'callwatch_calls_total', { status: 'ended' })).toBe(13)
})

test('/api/v1/state has the number of open calls by type and mode', async () => {
  const labels = labelsOf('video', 'meet', 'group')
  const calls = [openCall('a'), openCall('b', { labels }), openCall('c', { labels }), finishedCall('d')]
  const { status } = await statusOf(shownTarget({ calls }))
  expect(status.targets[0].in_progress_by).toEqual([
    { type: 'audio', mode: 'call', calls: 1 },
    { type: 'video', mode: 'meet', calls: 2 },
  ])
})

test('/api/v1/state has the failure ratios and window calls of /metrics', async () => {
  const quarter = [finish('ended'), finish('unanswered'), finish('unanswered'), finish('rejected'), finish('other')]
  const finished = [...quarter, finish('canceled', 1800), finish('ended', 7200)]
  const { url, status } = await statusOf(shownTarget({ finished, sync: POLLED }))
  const families = readExposition(await (await fetch(`${url}/metrics`)).text())
  const { windows } = status.targets[0]
  expect(windows[0]).toEqual({
    window: '15m',
    seconds: 900,
    calls: 5,
    finished: { ended: 1, unanswered: 2, rejected: 1, canceled: 0, other: 1 },
    failure_ratio: { any: 0.6, unanswered: 0.4, rejected: 0.2, canceled: 0 },
  })
  for (const { window, calls, failure_ratio: ratio } of windows) {
    expect(calls).toBe(sum(families, 'callwatch_window_calls', { window }))
    for (const reason of ['any', 'unanswered', 'rejected', 'canceled']) {
      expect(ratio[reason]).toBeCloseTo(sum(families, 'callwatch_call_failure_ratio', { window, reason }))
    }
  }
  expect(windows.map(({ calls }: { calls: number }) => calls)).toEqual([5, 6, 7])
})

test('/api/v1/state has the rules with their settings and readings', async () => {
  const finished = [
    ...Array.from({ length: 15 }, () => finish('ended')),
    ...Array.from({ length: 5 }, () => finish('rejected')),
  ]
  const more = { name: 'failure_ratio', reason: 'any', window: 900, minCalls: 21 } as const
  const few = { ...RATIO_RULE, name: 'Few', signal: more }
  const { status } = await statusOf(shownTarget({ rules: [RATIO_RULE, few], finished, sync: POLLED }))
  expect(status.targets[0].rules).toEqual([
    expect.objectContaining({
      name: 'HighFailureRate',
      signal: 'failure_ratio',
      reason: 'any',
      breach: 'above',
      threshold: 0.3,
      clear: 0.2,
      window_seconds: 900,
      min_calls: 20,
      readings: [{ labels: {}, value: 0.25, calls: 20, threshold: 0.3, clear: 0.2 }],
    }),
    expect.objectContaining({
      name: 'Few',
      readings: [{ labels: {}, value: null, calls: 20, threshold: 0.3, clear: 0.2 }],
    }),
  ])
})

test('/api/v1/state has times in ISO 8601 and UTC', async () => {
  const { status } = await statusOf(shownTarget({ sync: { ...POLLED, lastSuccessHostTime: NOW + 0.25 } }))
  expect(status.targets[0].last_success).toBe('2026-09-21T14:13:20.250Z')
})

function sum(families: ReadonlyMap<string, Family>, name: string, wanted: Record<string, string> = {}): number {
  return families
    .get(name)!
    .samples.filter(({ labels }) => Object.entries(wanted).every(([label, value]) => labels[label] === value))
    .reduce((total, { value }) => total + value, 0)
}

test('while the store is unavailable, /api/v1/state says why, and has no silences', async () => {
  const { url } = await serve([shownTarget()], { storeProblem: 'the database db1 cannot be reached' })
  const answer = await fetch(`${url}/api/v1/state`)
  expect([answer.status, await answer.json()]).toEqual([
    200,
    expect.objectContaining({ problem: 'the database db1 cannot be reached' }),
  ])
  expect(await (await fetch(`${url}/api/v1/state`)).json()).not.toHaveProperty('silences')
})

const at = (iso: string) => Date.parse(iso) / 1000
const USAGE = new Map([
  [at('2026-10-31T23:45Z'), 1],
  [at('2026-11-01T00:00Z'), 2],
  [at('2026-11-19T23:45Z'), 4],
  [at('2026-11-20T00:00Z'), 8],
  [at('2026-11-20T14:00Z'), 16],
])

test.each([
  ['2026-11-20T14:07:00Z', '2026-11-20T00:00:00.000Z', 24],
  ['2026-11-21T00:00:00Z', '2026-11-21T00:00:00.000Z', 0],
])('at %s the used minutes of the day and the month count from midnight UTC', (now, since, minutes) => {
  expect(usedMinutes(USAGE, at(now))).toEqual({
    participant_minutes_today: { since, minutes },
    participant_minutes_this_month: { since: '2026-11-01T00:00:00.000Z', minutes: 30 },
  })
})
