import { describe, expect, test } from 'vitest'
import type { Call } from '../../../src/simulator/calls/call.ts'
import {
  failureRatio,
  addTo,
  type Series,
  exactFamilies,
  expectedSeries,
} from '../../../src/simulator/expected/expected-series.ts'
import { defaultSwitches } from '../../../src/simulator/switches.ts'
import { createWorld } from '../../../src/simulator/calls/arrivals.ts'
import { advance } from '../../../src/simulator/calls/world.ts'
import { difference } from '../../kit/replay/exposition.ts'
import { START } from '../../kit/world/request-service.ts'
import { answered, event } from '../../kit/simulator/ledger-events.ts'

describe('the expected series', () => {
  test('of one answered call have each of its figures', () => {
    const series = expectedSeries(answered, { created: 100, baseline: 'skip', now: 200 })
    const labels = 'mode="call",receiver_type="user",type="audio"'
    const exact = [...series].filter(([name]) => !name.includes('_bucket'))
    expect(Object.fromEntries(exact)).toEqual({
      [`callwatch_calls_started_total{${labels}}`]: 1,
      'callwatch_calls_total{mode="call",receiver_type="user",status="ended",type="audio"}': 1,
      callwatch_calls_recorded_total: 1,
      [`callwatch_invited_total{mode="call",outcome="joined",receiver_type="user",type="audio"}`]: 2,
      [`callwatch_invited_total{mode="call",outcome="absent",receiver_type="user",type="audio"}`]: 1,
      'callwatch_call_minutes_total{media="audio",mode="call",receiver_type="user",type="audio"}': 0.25,
      'callwatch_participant_minutes_total{media="audio"}': 0.5,
      'callwatch_participant_minutes_total{media="video"}': 0.125,
      [`callwatch_call_duration_seconds_sum{${labels}}`]: 13,
      [`callwatch_call_duration_seconds_count{${labels}}`]: 1,
      'callwatch_call_answer_delay_seconds_sum{receiver_type="user",type="audio"}': 4,
      'callwatch_call_answer_delay_seconds_count{receiver_type="user",type="audio"}': 1,
      [`callwatch_call_participants_sum{${labels}}`]: 2,
      [`callwatch_call_participants_count{${labels}}`]: 1,
    })
    const delay = (le: string): number | undefined =>
      series.get(`callwatch_call_answer_delay_seconds_bucket{le="${le}",receiver_type="user",type="audio"}`)
    expect([delay('2'), delay('5'), delay('+Inf')]).toEqual([undefined, 1, 1])
  })

  test('have one unknown for a call that has ended without participants', () => {
    const events = [event(100, 'one', 'ongoing'), event(130, 'one', 'ended', { endedAt: 130 })]
    const series = expectedSeries(events, { created: 100, baseline: 'skip', now: 200 })
    const invited = [...series].filter(([name]) => name.startsWith('callwatch_invited_total'))
    expect(invited).toEqual([
      ['callwatch_invited_total{mode="call",outcome="unknown",receiver_type="user",type="audio"}', 1],
    ])
  })

  test('at a moment include nothing after it', () => {
    const series = expectedSeries(answered, { created: 100, baseline: 'skip', now: 110 })
    expect(Object.fromEntries(series)).toEqual({
      'callwatch_calls_started_total{mode="call",receiver_type="user",type="audio"}': 1,
      'callwatch_calls_in_progress{mode="call",receiver_type="user",status="ongoing",type="audio"}': 1,
      'callwatch_call_minutes_total{media="audio",mode="call",receiver_type="user",type="audio"}': 0.1,
    })
  })

  test.each([
    { created: 117.9, baseline: 'skip', counted: true, why: 'ended in the second of the creation' },
    { created: 118, baseline: 'skip', counted: false, why: 'ended before the creation' },
    { created: 118, baseline: 'count', counted: true, why: 'and the baseline is counted' },
    { created: 100, baseline: 'skip', horizon: 118, counted: false, why: 'ended before the horizon' },
  ] as const)('count a call ($counted) that $why', ({ counted, why: _why, ...options }) => {
    expect(expectedSeries(answered, { ...options, now: 200 }).size > 0).toBe(counted)
  })

  test('have no answer delay and no duration for a call that was not answered', () => {
    const events = [event(100, 'one', 'initiated'), event(130, 'one', 'unanswered', { endedAt: 130 })]
    const names = [...expectedSeries(events, { created: 100, baseline: 'skip', now: 200 }).keys()].join()
    expect(names).toContain('callwatch_call_participants_count')
    expect(names).not.toMatch(/duration|delay/)
  })

  test.each([
    ['a short history', { history: 50 }],
    ['a history of weeks', { history: 600, historySeconds: 14 * 86_400, weekly: true }],
  ])('of an undisturbed world with %s are the sums of its final list', (_which, history) => {
    for (const seed of [1, 2, 3]) {
      const world = createWorld(
        { seed, speed: 30, callsPerMinute: 60, answerProbability: 0.7, progressSeconds: 15, open: 4, ...history },
        START,
      )
      for (let second = 0; second < 120; second += 3) advance(world, START + second)
      world.options = { ...world.options, callsPerMinute: 0 }
      advance(world, START + 3600, { ...defaultSwitches, arrivals: false })
      const calls = world.listing.map(({ call }) => call)
      const expected = summed(
        calls.filter(({ endedAt, startedAt, initiatedAt }) => (endedAt ?? startedAt ?? initiatedAt)! >= START),
      )
      expect(expected.size).toBeGreaterThan(30)
      const families = exactFamilies.filter((family) => !family.includes('_seconds'))
      const series = expectedSeries(world.ledger, { created: START, baseline: 'skip', now: START + 3600 })
      expect(difference(expected, series, families)).toEqual([])
      const all = expectedSeries(world.ledger, { created: START, baseline: 'count', now: START + 3600 })
      expect(difference(summed(calls), all, families)).toEqual([])
    }
  })
})

/** Everything that is no histogram of seconds, straight from what the service lists. */
function summed(calls: Call[]): Series {
  const series: Series = new Map()
  for (const call of calls) {
    const labels = { type: call.type, mode: call.mode, receiver_type: call.receiverType }
    addTo(series, 'callwatch_calls_started_total', labels, 1)
    addTo(series, 'callwatch_calls_total', { ...labels, status: call.status }, 1)
    if (call.hasRecording) addTo(series, 'callwatch_calls_recorded_total', {}, 1)
    addTo(series, 'callwatch_call_minutes_total', { ...labels, media: 'audio' }, call.totalAudioMinutes)
    addTo(series, 'callwatch_call_minutes_total', { ...labels, media: 'video' }, call.totalVideoMinutes)
    const others = Object.groupBy(call.participants, ({ uid }) => uid)
    delete others[call.initiator]
    for (const entries of Object.values(others)) {
      const outcome = entries!.some(({ isJoined }) => isJoined) ? 'joined' : 'absent'
      addTo(series, 'callwatch_invited_total', { ...labels, outcome }, 1)
    }
    for (const entry of call.participants) {
      addTo(series, 'callwatch_participant_minutes_total', { media: 'audio' }, entry.totalAudioMinutes)
      addTo(series, 'callwatch_participant_minutes_total', { media: 'video' }, entry.totalVideoMinutes)
    }
    addTo(series, 'callwatch_call_participants_count', labels, 1)
    addTo(series, 'callwatch_call_participants_sum', labels, call.totalParticipants)
    for (const le of [1, 2, 3, 4, 6, 8, 12, 25, 50, Infinity]) {
      const text = le === Infinity ? '+Inf' : String(le)
      const within = call.totalParticipants <= le ? 1 : 0
      addTo(series, 'callwatch_call_participants_bucket', { ...labels, le: text }, within)
    }
  }
  return series
}

describe('the failure ratio', () => {
  const finished = ['ended', 'ended', 'unanswered', 'rejected', 'canceled', 'ended', 'ended', 'unanswered'].map(
    (status, index) => event(110 + index, `call ${index}`, status, { endedAt: 110 + index }),
  )
  const window = { created: 100, baseline: 'skip', now: 200 } as const

  test('is the share of the calls finished in the window that failed, by reason', () => {
    expect(failureRatio(finished, { ...window, from: 110 })).toEqual({
      calls: 8,
      ratio: { any: 0.5, unanswered: 0.25, rejected: 0.125, canceled: 0.125 },
      tolerance: 0,
    })
  })

  test('leaves out what finished before the window', () => {
    expect(failureRatio(finished, { ...window, from: 113 })).toMatchObject({ calls: 5, ratio: { any: 0.6 } })
  })

  test('is absent below five finished calls', () => {
    expect(failureRatio(finished, { ...window, from: 114 })).toEqual({ calls: 4, tolerance: 0 })
  })

  test('may be off by the calls that failed without endedAt and rang when the window began', () => {
    const rang = ['unanswered', 'rejected'].map((status) => event(112, status, status, { initiatedAt: 105 }))
    const failed = event(120, 'later', 'canceled', { initiatedAt: 115 })
    const { calls, tolerance } = failureRatio([...finished, ...rang, failed], { ...window, from: 110 })
    expect([calls, tolerance]).toEqual([11, 2 / 9])
  })

  test('leaves out calls that are still open and those of the baseline', () => {
    const more = [...finished, event(150, 'open', 'ongoing'), event(99, 'old', 'rejected', { endedAt: 99 })]
    expect(failureRatio(more, { ...window, from: 0 }).calls).toBe(8)
    expect(failureRatio(more, { ...window, baseline: 'count', from: 0 }).calls).toBe(9)
  })
})
