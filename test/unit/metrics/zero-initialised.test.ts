import { describe, expect, test } from 'vitest'
import { initSeries } from '../../../src/metrics/series.ts'
import { metricsOf } from '../../../src/metrics/registry.ts'
import type { SyncState } from '../../../src/ledger/state.ts'
import { COUNTERS, HISTOGRAMS } from '../../../src/ledger/series.ts'
import { handMadeTarget, openCall, POLLED, RATIO_RULE } from '../../kit/metrics/hand-made-target.ts'
import { linesOf, readExposition } from '../../kit/metrics/read-exposition.ts'

const TYPE = ['type=audio', 'type=video']
const MODE = ['mode=call', 'mode=meet', 'mode=presenter']
const RECEIVER_TYPE = ['receiver_type=user', 'receiver_type=group']
const CALL = [TYPE, MODE, RECEIVER_TYPE]
const MEDIA = ['media=audio', 'media=video']
const OBSERVED = ['observed=true', 'observed=false']
const STEPS = [
  'from=none,to=initiated',
  'from=none,to=ongoing',
  'from=initiated,to=ongoing',
  'from=ongoing,to=ended',
  'from=initiated,to=unanswered',
  'from=initiated,to=rejected',
  'from=initiated,to=canceled',
]
const labelled = (label: string, ...values: string[]) => values.map((value) => `${label}=${value}`)

const SPANS: [name: string, label: readonly (readonly string[])[]][] = [
  ['callwatch_calls_started_total', CALL],
  ['callwatch_calls_total', [...CALL, labelled('status', 'ended', 'unanswered', 'rejected', 'canceled')]],
  ['callwatch_calls_lost_total', []],
  ['callwatch_calls_reappeared_total', []],
  ['callwatch_calls_excluded', [labelled('reason', 'baseline', 'before_horizon')]],
  ['callwatch_call_transitions_total', [STEPS, OBSERVED]],
  ['callwatch_calls_in_progress', [...CALL, labelled('status', 'initiated', 'ongoing')]],
  ['callwatch_participants_in_progress', []],
  ['callwatch_call_minutes_total', [...CALL, MEDIA]],
  ['callwatch_participant_minutes_total', [MEDIA]],
  ['callwatch_minutes_corrections_total', [MEDIA, labelled('level', 'call', 'participant')]],
  ['callwatch_calls_recorded_total', []],
  ['callwatch_window_calls', [labelled('window', '15m', '1h', '24h')]],
  [
    'callwatch_call_anomalies_total',
    [
      labelled(
        'kind',
        'final_changed',
        'unknown_status',
        'labels_changed',
        'bad_value',
        'time_reversed',
        'too_many_participants',
      ),
    ],
  ],
  ['callwatch_up', []],
  ['callwatch_polls_total', [labelled('outcome', 'complete', 'incremental', 'partial', 'failed', 'skipped')]],
  [
    'callwatch_api_requests_total',
    [labelled('operation', 'list_calls', 'get_call'), labelled('code', '200', 'timeout', 'network', 'invalid')],
  ],
  ['callwatch_tracked_calls', []],
  ['callwatch_invalid_items_total', [labelled('reason', 'no_session_id', 'no_status', 'not_an_object')]],
  ['callwatch_alerts', [['alert=HighFailureRate,severity=warning'], labelled('state', 'pending', 'firing')]],
  ['callwatch_alert_state', [['alert=HighFailureRate,severity=warning']]],
  ['callwatch_notifications_pending', [['receiver=slack']]],
  ['callwatch_notification_oldest_pending_seconds', [['receiver=slack']]],
  ['callwatch_notifications_total', [['receiver=slack'], labelled('outcome', 'sent', 'retried')]],
  [
    'callwatch_webhook_deliveries_total',
    [['webhook=crm'], labelled('outcome', 'delivered', 'retried', 'dead', 'expired', 'gap')],
  ],
]

const HISTOGRAM_SPANS: [name: string, labels: readonly (readonly string[])[]][] = [
  ['callwatch_call_duration_seconds', CALL],
  ['callwatch_call_answer_delay_seconds', [TYPE, RECEIVER_TYPE]],
  ['callwatch_call_participants', CALL],
  ['callwatch_poll_duration_seconds', []],
  ['callwatch_detection_lag_seconds', []],
  ['callwatch_api_request_duration_seconds', [labelled('operation', 'list_calls', 'get_call')]],
]

/** Metrics whose subject does not exist before the initial sync. */
const ABSENT = [
  'callwatch_call_failure_ratio',
  'callwatch_oldest_open_call_timestamp_seconds',
  'callwatch_poll_last_success_timestamp_seconds',
  'callwatch_rule_value',
  'callwatch_sweep_age_seconds',
  'callwatch_api_ratelimit_remaining',
]

async function scrape(sync: Partial<SyncState>) {
  const target = handMadeTarget({ rules: [RATIO_RULE], sync })
  const { operational, expose } = metricsOf(() => [target], '1')
  initSeries(operational, 'target', 'production')
  initSeries(operational, 'receiver', 'slack')
  initSeries(operational, 'webhook', 'crm')
  return readExposition((await expose('prometheus')).body)
}

/** All combinations of one value from each list. */
function product(lists: readonly (readonly string[])[]): string[] {
  return lists.reduce<string[]>(
    (rows, values) => rows.flatMap((row) => values.map((value) => (row === '' ? value : `${row},${value}`))),
    [''],
  )
}

describe('after the first successful poll', async () => {
  const families = await scrape(POLLED)

  test.each(SPANS)('%s is 0 in every documented label set, and in no other', (name, lists) => {
    expect(linesOf(families, name).toSorted()).toEqual(
      product(lists)
        .map((labels) => `${labels} 0`.trim())
        .toSorted(),
    )
  })

  test.each(HISTOGRAM_SPANS)('%s is empty in every documented label set, and in no other', (name, lists) => {
    const { samples } = families.get(name)!
    expect(samples.map(({ value }) => value).filter((value) => value !== 0)).toEqual([])
    for (const suffix of ['_sum', '_count']) {
      const sets = samples
        .filter((sample) => sample.name === name + suffix)
        .map(({ labels: { target: _target, ...labels } }) => Object.entries(labels).map((pair) => pair.join('=')))
      expect(sets.map((set) => set.join(',')).toSorted()).toEqual(product(lists).toSorted())
    }
  })
})

describe('before the first successful poll', async () => {
  const families = await scrape({})

  test.each(ABSENT)('%s is absent, because any value would be wrong', (name) => {
    expect(linesOf(families, name)).toEqual([])
  })

  test('no durable counter has a value, so that Prometheus does not take the calls of the past for an increase', () => {
    const durable = [...Object.values(COUNTERS), ...Object.values(HISTOGRAMS)].map(({ name }) => name)
    expect(durable.flatMap((name) => families.get(name)?.samples ?? [])).toEqual([])
  })
})

test('the label value `other` appears only in series where it occurs', async () => {
  const counters = { 'callwatch_calls_total|audio|other|user|other': 2 }
  const target = handMadeTarget({ counters, calls: [openCall('a', { status: 'other' })], sync: POLLED })
  const families = readExposition((await metricsOf(() => [target], '1').expose('prometheus')).body)
  const others = (name: string) => linesOf(families, name).filter((line) => line.includes('other'))
  expect(others('callwatch_calls_total')).toEqual(['type=audio,mode=other,receiver_type=user,status=other 2'])
  expect(others('callwatch_calls_in_progress')).toEqual(['type=audio,mode=call,receiver_type=user,status=other 1'])
  expect(others('callwatch_calls_started_total')).toEqual([])
})
