import type { AlertInstance } from '../../../src/alerts/alert-instance.ts'
import type { Rule } from '../../../src/alerts/rule.ts'
import { usualPeriod } from '../../../src/alerts/usual.ts'
import { labelsOf } from '../../../src/ledger/call.ts'
import { POLL_AGE, ruleOn } from '../../kit/alerts/sample-rules.ts'
import { describe, expect, test } from 'vitest'
import { DERIVED_METRICS } from '../../../src/metrics/derived-metrics.ts'
import { metricsOf } from '../../../src/metrics/registry.ts'
import {
  finish,
  finishedCall,
  firing,
  handMadeTarget,
  POLLED,
  NOW,
  openCall,
  RATIO_RULE,
} from '../../kit/metrics/hand-made-target.ts'
import { linesOf, readExposition } from '../../kit/metrics/read-exposition.ts'

/** The samples of a metric in one scrape, without zeros. */
async function shown(made: Parameters<typeof handMadeTarget>[0], name: string): Promise<string[]> {
  const { body } = await metricsOf(() => [handMadeTarget(made)], '1').expose('prometheus')
  return linesOf(readExposition(body), name).filter((line) => !/(^| )0$/.test(line))
}

describe('a durable counter', () => {
  test('has the value of the ledger for each label set', async () => {
    const counters = {
      'callwatch_calls_total|audio|call|user|ended': 7,
      'callwatch_calls_total|video|meet|group|ended': 2,
      'callwatch_calls_started_total|audio|call|user': 9,
      callwatch_calls_lost_total: 1,
      'callwatch_call_minutes_total|audio|call|user|audio': 12.375,
    }
    expect(await shown({ counters, sync: POLLED }, 'callwatch_calls_total')).toEqual([
      'type=audio,mode=call,receiver_type=user,status=ended 7',
      'type=video,mode=meet,receiver_type=group,status=ended 2',
    ])
    expect(await shown({ counters, sync: POLLED }, 'callwatch_calls_started_total')).toEqual([
      'type=audio,mode=call,receiver_type=user 9',
    ])
    expect(await shown({ counters, sync: POLLED }, 'callwatch_calls_lost_total')).toEqual(['1'])
    expect(await shown({ counters, sync: POLLED }, 'callwatch_call_minutes_total')).toEqual([
      'type=audio,mode=call,receiver_type=user,media=audio 12.375',
    ])
  })

  test('does not include a metric whose name starts with its own', async () => {
    const counters = { callwatch_calls_lost_total: 1, callwatch_calls_lost_total_of_another: 5 }
    expect(await shown({ counters, sync: POLLED }, 'callwatch_calls_lost_total')).toEqual(['1'])
  })

  test('has a series for each target', async () => {
    const counters = { callwatch_calls_recorded_total: 3 }
    const targets = ['a', 'b'].map((target) => handMadeTarget({ target, counters, sync: POLLED }))
    const { body } = await metricsOf(() => targets, '1').expose('prometheus')
    const { samples } = readExposition(body).get('callwatch_calls_recorded_total')!
    expect(samples.map(({ labels, value }) => [labels, value])).toEqual([
      [{ target: 'a' }, 3],
      [{ target: 'b' }, 3],
    ])
  })

  test('has the current value at each scrape, and the series that were first counted since the last one, each once', async () => {
    const target = handMadeTarget({ sync: POLLED })
    const { expose } = metricsOf(() => [target], '1')
    const lines = async (name: string) => linesOf(readExposition((await expose('prometheus')).body), name)
    const { counters } = target.ledger
    expect(await lines('callwatch_calls_lost_total')).toEqual(['0'])
    const started = await lines('callwatch_calls_started_total')
    counters.set('callwatch_calls_lost_total', 4).set('callwatch_call_participants|other|call|user|2', 1)
    counters.set('callwatch_calls_started_total_of_another|odd|call|user', 2)
    expect(await lines('callwatch_calls_lost_total')).toEqual(['4'])
    counters.set('callwatch_call_participants|other|call|user|3', 1)
    counters.set('callwatch_calls_started_total|other|call|user', 1)
    expect(await lines('callwatch_calls_started_total')).toEqual([
      ...started,
      'type=other,mode=call,receiver_type=user 1',
    ])
  })
})

test('a durable histogram is cumulative, and its +Inf bucket equals its count', async () => {
  const key = 'callwatch_call_answer_delay_seconds|audio|user'
  const counters = { [`${key}|2`]: 3, [`${key}|15`]: 2, [`${key}|Inf`]: 1, [`${key}|sum`]: 150.5 }
  const { body } = await metricsOf(() => [handMadeTarget({ counters, sync: POLLED })], '1').expose('prometheus')
  const of = readExposition(body)
    .get('callwatch_call_answer_delay_seconds')!
    .samples.filter(({ labels }) => labels['type'] === 'audio' && labels['receiver_type'] === 'user')
  const buckets = of.filter(({ name }) => name.endsWith('_bucket')).map(({ labels, value }) => [labels['le'], value])
  expect(Object.fromEntries(buckets)).toEqual({
    1: 0,
    2: 3,
    5: 3,
    10: 3,
    15: 5,
    20: 5,
    30: 5,
    45: 5,
    60: 5,
    90: 5,
    '+Inf': 6,
  })
  expect(of.find(({ name }) => name.endsWith('_sum'))?.value).toBe(150.5)
  expect(of.find(({ name }) => name.endsWith('_count'))?.value).toBe(6)
})

describe('callwatch_call_failure_ratio', () => {
  const finishes = (failed: number, ended: number) => [
    ...Array.from({ length: failed }, () => finish('rejected')),
    ...Array.from({ length: ended }, () => finish('ended')),
  ]

  test('is absent below five finished calls, even if all of them failed', async () => {
    const made = { finished: finishes(4, 0), sync: POLLED }
    expect(await shown(made, 'callwatch_call_failure_ratio')).toEqual([])
    expect(await shown(made, 'callwatch_window_calls')).toEqual(['window=15m 4', 'window=1h 4', 'window=24h 4'])
  })

  test('exists from five finished calls on, even if it is 0', async () => {
    const { body } = await metricsOf(() => [handMadeTarget({ finished: finishes(1, 4), sync: POLLED })], '1').expose(
      'prometheus',
    )
    expect(linesOf(readExposition(body), 'callwatch_call_failure_ratio').slice(0, 4)).toEqual([
      'window=15m,reason=any 0.2',
      'window=15m,reason=unanswered 0',
      'window=15m,reason=rejected 0.2',
      'window=15m,reason=canceled 0',
    ])
  })

  test('is computed for each window', async () => {
    const old = Array.from({ length: 6 }, () => finish('canceled', 1000))
    const made = { finished: [...old, ...finishes(0, 4)], sync: POLLED }
    expect(await shown(made, 'callwatch_window_calls')).toEqual(['window=15m 4', 'window=1h 10', 'window=24h 10'])
    expect(await shown(made, 'callwatch_call_failure_ratio')).toEqual([
      'window=1h,reason=any 0.6',
      'window=1h,reason=canceled 0.6',
      'window=24h,reason=any 0.6',
      'window=24h,reason=canceled 0.6',
    ])
  })

  test('and callwatch_window_calls are absent or 0 until the initial sync has ended', async () => {
    const made = { finished: finishes(5, 5) }
    expect(await shown(made, 'callwatch_call_failure_ratio')).toEqual([])
    expect(await shown(made, 'callwatch_window_calls')).toEqual([])
  })
})

describe('the metrics of calls in progress', () => {
  const calls = [
    openCall('a', { initiatedAt: NOW - 500, joined: 3 }),
    openCall('b', { initiatedAt: NOW - 400, joined: undefined }),
    openCall('c', { status: 'initiated', startedAt: undefined, joined: 1 }),
    finishedCall('d', { initiatedAt: NOW - 900, joined: 7 }),
  ]

  test('count each call by its labels and status', async () => {
    expect(await shown({ calls }, 'callwatch_calls_in_progress')).toEqual([
      'type=audio,mode=call,receiver_type=user,status=initiated 1',
      'type=audio,mode=call,receiver_type=user,status=ongoing 2',
    ])
  })

  test('count participants of ongoing calls alone', async () => {
    expect(await shown({ calls }, 'callwatch_participants_in_progress')).toEqual(['3'])
  })

  test('have the time when the oldest call began', async () => {
    expect(await shown({ calls }, 'callwatch_oldest_open_call_timestamp_seconds')).toEqual([
      `type=audio,mode=call,receiver_type=user ${NOW - 500}`,
    ])
  })

  test('have the time of the oldest of more calls than a function can have arguments', () => {
    const target = handMadeTarget()
    for (let i = 0; i < 150_000; i++) target.ledger.open.set(String(i), openCall('a', { initiatedAt: NOW - i }))
    const oldest = DERIVED_METRICS.find(({ name }) => name === 'callwatch_oldest_open_call_timestamp_seconds')
    expect(oldest?.read(target).map(({ value }) => value)).toEqual([NOW - 149_999])
  })

  test('count finished calls too in callwatch_tracked_calls', async () => {
    expect(await shown({ calls }, 'callwatch_tracked_calls')).toEqual(['4'])
  })
})

test('callwatch_calls_excluded has the excluded calls of a sweep by reason', async () => {
  const sync = { ...POLLED, excluded: { baseline: 12, beforeHorizon: 3 } }
  expect(await shown({ sync }, 'callwatch_calls_excluded')).toEqual(['reason=baseline 12', 'reason=before_horizon 3'])
})

test("the last success is a time of the host's clock, the last sweep an age", async () => {
  const sync = { ...POLLED, lastSuccessHostTime: NOW + 2.5 }
  expect(await shown({ sync, sweepAge: 42 }, 'callwatch_poll_last_success_timestamp_seconds')).toEqual([`${NOW + 2.5}`])
  expect(await shown({ sync, sweepAge: 42 }, 'callwatch_sweep_age_seconds')).toEqual(['42'])
})

describe('callwatch_rule_value', () => {
  const finished = [finish('ended'), finish('rejected'), finish('rejected'), finish('unanswered')]

  test('is the number that the alert is decided on, beside the threshold', async () => {
    const ratio = { ...RATIO_RULE, signal: { ...RATIO_RULE.signal, minCalls: 4 } }
    const made = { finished, sync: POLLED, rules: [ratio, POLL_AGE] }
    expect(await shown(made, 'callwatch_rule_value')).toEqual([
      'alert=HighFailureRate,signal=failure_ratio 0.75',
      'alert=NoGoodPoll,signal=poll_age 5',
    ])
    expect(await shown(made, 'callwatch_rule_threshold')).toEqual([
      'alert=HighFailureRate,signal=failure_ratio 0.3',
      'alert=NoGoodPoll,signal=poll_age 300',
    ])
  })

  test('of a rule with `relative_to` is the ratio to what is expected, which is shown as well', async () => {
    const signal = { name: 'calls_finished', window: 900, relativeTo: 1800, minCallsThen: 2 } as const
    const then = [finish('ended', 2000), finish('ended', 2000)]
    const made = { finished: [...finished, ...then], sync: POLLED, rules: [{ ...RATIO_RULE, name: 'More', signal }] }
    expect(await shown(made, 'callwatch_rule_value')).toEqual(['alert=More,signal=calls_finished 2'])
    expect(await shown(made, 'callwatch_rule_expected')).toEqual(['alert=More,signal=calls_finished 2'])
  })

  test('is beside the threshold of its group, which `above_usual` raises, and the usual share', async () => {
    const usually = (type: 'audio' | 'video', unanswered: number) => [
      { status: 'unanswered', labels: labelsOf(type, 'call', 'user'), isRecorded: false, n: unanswered } as const,
      { status: 'ended', labels: labelsOf(type, 'call', 'user'), isRecorded: false, n: 100 - unanswered } as const,
    ]
    const rule = { ...RATIO_RULE, by: ['type'] as const, signal: { ...RATIO_RULE.signal, aboveUsual: 0.15 } }
    const period = usualPeriod(rule, { now: NOW, previousSuccess: NOW - 15 })!
    const usual = [{ ...period, tallies: [...usually('audio', 60), ...usually('video', 5)] }]
    const made = { sync: POLLED, rules: [rule], usual }
    const groups = ['audio', 'video'].map((type) => `alert=HighFailureRate,signal=failure_ratio,type=${type}`)
    expect(await shown(made, 'callwatch_rule_threshold')).toEqual([`${groups[0]} 0.75`, `${groups[1]} 0.3`])
    expect(await shown(made, 'callwatch_rule_expected')).toEqual([`${groups[0]} 0.6`, `${groups[1]} 0.05`])
  })

  test('is absent with too few calls, and before the first poll', async () => {
    expect(await shown({ finished, sync: POLLED, rules: [RATIO_RULE] }, 'callwatch_rule_value')).toEqual([])
    expect(await shown({ rules: [CALLS_OPEN] }, 'callwatch_rule_value')).toEqual([])
  })

  test('has the labels that the rule groups by', async () => {
    const calls = [openCall('a'), openCall('b', { labels: labelsOf('video', 'call', 'user') })]
    const rules = [{ ...CALLS_OPEN, by: ['type'] as const, match: { receiver_type: 'user' as const } }]
    expect(await shown({ calls, sync: POLLED, rules }, 'callwatch_rule_value')).toEqual([
      'alert=Open,signal=in_progress,type=audio 1',
      'alert=Open,signal=in_progress,type=video 1',
    ])
  })
})

const CALLS_OPEN = ruleOn({ name: 'in_progress' }, { name: 'Open' })

test('callwatch_alert_state is that of each alert, also of inactive ones, with the severity that its rule has now', async () => {
  const byType = { ...RATIO_RULE, name: 'ByType', by: ['type'] as const }
  const instanceOf = (type: string, state: 'pending' | 'recovering'): AlertInstance => {
    return { ...firing(byType), key: `ByType{type="${type}"}`, labels: { type }, state }
  }
  const rules: Rule[] = [byType, { ...RATIO_RULE, severity: 'critical' }, { ...RATIO_RULE, name: 'Quiet' }]
  const alerts = [
    firing(),
    instanceOf('video', 'pending'),
    instanceOf('other', 'recovering'),
    // The rules of these have other groups, or are gone.
    { ...firing({ ...RATIO_RULE, name: 'Quiet' }), key: 'Quiet{mode="call"}', labels: { mode: 'call' } },
    firing({ ...RATIO_RULE, name: 'Removed' }),
  ]
  const { body } = await metricsOf(() => [handMadeTarget({ rules, alerts })], '1').expose('prometheus')
  expect(linesOf(readExposition(body), 'callwatch_alert_state')).toEqual([
    'alert=ByType,severity=warning,type=audio 0',
    'alert=ByType,severity=warning,type=video 1',
    'alert=ByType,severity=warning,type=other 2',
    'alert=HighFailureRate,severity=critical 2',
    'alert=Quiet,severity=warning 0',
  ])
})

test('callwatch_alerts counts an alert in its state; a rule without alerts has 0 in both states', async () => {
  const { body } = await metricsOf(
    () => [handMadeTarget({ rules: [RATIO_RULE, { ...RATIO_RULE, name: 'Quiet' }], alerts: [firing()] })],
    '1',
  ).expose('prometheus')
  expect(linesOf(readExposition(body), 'callwatch_alerts')).toEqual([
    'alert=HighFailureRate,severity=warning,state=pending 0',
    'alert=HighFailureRate,severity=warning,state=firing 1',
    'alert=Quiet,severity=warning,state=pending 0',
    'alert=Quiet,severity=warning,state=firing 0',
  ])
})
