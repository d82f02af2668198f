import { describe, expect, test } from 'vitest'
import { initNotifier, initTarget, initWebhook, recordPoll } from '../../src/metrics/record.ts'
import { describeMetrics, metricsOf } from '../../src/metrics/registry.ts'
import { finish, firing, handMadeTarget, POLLED, openCall, RATIO_RULE } from './hand-made-target.ts'
import { ACCEPTED_COMPLAINTS, complaintsOf, skipWithoutPromtool } from '../prometheus/promtool.ts'
import { readExposition } from './read-exposition.ts'

// Public contract: dashboards and alerts of users depend on these names. Rename nothing here.
const CONTRACT = `
callwatch_calls_started_total                 counter    target, type, mode, receiver_type
callwatch_calls_total                         counter    target, type, mode, receiver_type, status
callwatch_calls_lost_total                    counter    target
callwatch_calls_reappeared_total              counter    target
callwatch_calls_excluded                      gauge      target, reason
callwatch_clock_skew_seconds                  gauge      target
callwatch_call_transitions_total              counter    target, from, to, observed
callwatch_calls_in_progress                   gauge      target, type, mode, receiver_type, status
callwatch_oldest_open_call_timestamp_seconds  gauge      target
callwatch_participants_in_progress            gauge      target
callwatch_call_minutes_total                  counter    target, type, mode, receiver_type, media
callwatch_participant_minutes_total           counter    target, media
callwatch_minutes_corrections_total           counter    target, media, level
callwatch_call_duration_seconds               histogram  target, type, mode, receiver_type
callwatch_call_answer_delay_seconds           histogram  target, type, receiver_type
callwatch_call_participants                   histogram  target, type, mode, receiver_type
callwatch_calls_recorded_total                counter    target
callwatch_call_failure_ratio                  gauge      target, window, reason
callwatch_window_calls                        gauge      target, window
callwatch_call_anomalies_total                counter    target, kind
callwatch_up                                  gauge      target
callwatch_polls_total                         counter    target, outcome
callwatch_poll_duration_seconds               histogram  target
callwatch_poll_last_success_timestamp_seconds gauge      target
callwatch_detection_lag_seconds               histogram  target
callwatch_api_requests_total                  counter    target, operation, code
callwatch_api_request_duration_seconds        histogram  target, operation
callwatch_api_ratelimit_remaining             gauge      target
callwatch_tracked_calls                       gauge      target
callwatch_invalid_items_total                 counter    target, reason
callwatch_alerts                              gauge      target, alert, severity, state
callwatch_login_failures_total                counter
callwatch_silence_changes_total               counter    change
callwatch_notifications_total                 counter    notifier, outcome
callwatch_notifications_pending               gauge      notifier
callwatch_webhook_deliveries_total            counter    webhook, outcome
callwatch_webhook_pending_events              gauge      webhook
callwatch_webhook_oldest_pending_seconds      gauge      webhook
callwatch_webhook_dead_letters                gauge      webhook
callwatch_webhook_paused                      gauge      webhook
callwatch_sweep_age_seconds                   gauge      target
callwatch_targets                             gauge
callwatch_targets_owned                       gauge
callwatch_internal_errors_total               counter    target
callwatch_lease_lost_total                    counter
callwatch_log_lines_dropped_total             counter
callwatch_store_bytes                         gauge
callwatch_store_writable                      gauge
callwatch_store_commit_duration_seconds       histogram
callwatch_config_last_reload_successful       gauge
callwatch_build_info                          gauge      version, node
`
  .trim()
  .split('\n')
  .map((line) => {
    const [name = '', type = '', labels = ''] = line.trim().split(/ +(.*?)(?: +|$)(.*)/s)
    return { name, type, labels: labels === '' ? [] : labels.split(', ') }
  })

const BUCKETS = {
  callwatch_call_duration_seconds: [1, 5, 10, 30, 60, 300, 600, 1800, 3600, 7200],
  callwatch_call_answer_delay_seconds: [1, 2, 5, 10, 15, 20, 30, 45, 60, 90],
  callwatch_call_participants: [1, 2, 3, 4, 6, 8, 12, 25, 50],
}

/** An exposition in which every metric has a value. */
async function exposition(): Promise<string> {
  const target = handMadeTarget({
    counters: { 'callwatch_calls_total|other|other|other|other': 1 },
    calls: [openCall('a')],
    finished: Array.from({ length: 5 }, () => finish('ended')),
    sync: POLLED,
    rules: [RATIO_RULE],
    alerts: [firing()],
    sweepAge: 1,
  })
  const { operational, expose } = metricsOf(() => [target], '1.2.3')
  initTarget(operational, 'production')
  initNotifier(operational, 'slack')
  initWebhook(operational, 'crm')
  const { webhookPending, webhookOldestPending, webhookDeadLetters, webhookPaused } = operational
  for (const gauge of [webhookPending, webhookOldestPending, webhookDeadLetters, webhookPaused]) {
    gauge.set({ webhook: 'crm' }, 0)
  }
  const requests = [{ operation: 'list_calls' as const, code: '200', seconds: 0.1 }]
  recordPoll(operational, 'production', {
    outcome: 'complete',
    successful: true,
    seconds: 0.2,
    requests,
    remaining: 99,
    storeFailed: false,
  })
  return (await expose('prometheus')).body
}

describe('the metrics contract', async () => {
  const families = readExposition(await exposition())

  test.each(CONTRACT)('has $name, a $type by $labels, with a help text and samples', ({ name, type, labels }) => {
    const family = families.get(name)
    expect(family?.type).toBe(type)
    expect(family?.help).not.toBe('')
    expect(family?.samples).not.toEqual([])
    for (const sample of family?.samples ?? []) {
      expect(Object.keys(sample.labels).filter((label) => label !== 'le')).toEqual(labels)
    }
  })

  test.each(Object.entries(BUCKETS))('has %s with the buckets %j', (name, buckets) => {
    const bounds = families.get(name)!.samples.flatMap(({ labels: { le } }) => le ?? [])
    expect(new Set(bounds)).toEqual(new Set([...buckets.map(String), '+Inf']))
  })

  test('is what describeMetrics describes, and what is exported', () => {
    const described = describeMetrics().map(({ name, type, labels, help }) => ({ name, type, labels, help }))
    const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1)
    const exported = CONTRACT.map((metric) => ({ ...metric, help: families.get(metric.name)?.help }))
    expect(described).toEqual(exported.toSorted(byName))
    expect([...families.keys()].filter((name) => name.startsWith('callwatch_')).toSorted()).toEqual(
      described.map(({ name }) => name),
    )
  })
})

test('no label has the id of a call or a user', async () => {
  const target = handMadeTarget({ calls: [openCall('v1.us.session-of-ann')], sync: POLLED })
  const { body } = await metricsOf(() => [target], '1').expose('prometheus')
  expect(body).not.toContain('session-of-ann')
})

test('/metrics has the process metrics of prom-client', async () => {
  const families = readExposition(await exposition())
  for (const name of ['process_cpu_seconds_total', 'process_resident_memory_bytes', 'nodejs_eventloop_lag_seconds']) {
    expect(families.get(name)?.samples).not.toEqual([])
  }
})

test('callwatch_build_info has the versions of callwatch and Node.js', async () => {
  const [sample] = readExposition(await exposition()).get('callwatch_build_info')!.samples
  expect(sample).toMatchObject({ labels: { version: '1.2.3', node: process.versions.node }, value: 1 })
})

test('promtool finds only the accepted problems in an exposition', async (context) => {
  skipWithoutPromtool(context)
  expect(complaintsOf(await exposition())).toEqual(ACCEPTED_COMPLAINTS)
})
