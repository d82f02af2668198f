import { describe, expect, test } from 'vitest'
import { introduceNotifier, introduceTarget, recordCycle } from '../../src/metrics/record.ts'
import { describeMetrics, metricsOf } from '../../src/metrics/registry.ts'
import { finish, firing, handMadeTarget, LOOKED, openCall, RATIO_RULE } from './hand-made-target.ts'
import { readExposition } from './read-exposition.ts'

// Public contract: dashboards and alerts elsewhere depend on these very names. Nothing here is renamed.
const CONTRACT = `
callwatch_calls_started_total                 counter    target, type, mode, receiver_type
callwatch_calls_total                         counter    target, type, mode, receiver_type, status
callwatch_calls_lost_total                    counter    target
callwatch_calls_reappeared_total              counter    target
callwatch_calls_ignored                       gauge      target, reason
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
callwatch_calls_rejected_total                counter    target, reason
callwatch_alerts                              gauge      target, alert, severity, state
callwatch_login_failures_total                counter
callwatch_silence_changes_total               counter    change
callwatch_notifications_total                 counter    notifier, outcome
callwatch_notifications_pending               gauge      notifier
callwatch_sweep_age_seconds                   gauge      target
callwatch_targets                             gauge
callwatch_targets_owned                       gauge
callwatch_internal_errors_total               counter    target
callwatch_lease_lost_total                    counter
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

/** A target of which every metric has something to say. */
async function scrapeOfEverything() {
  const target = handMadeTarget({
    calls: [openCall('a')],
    finished: Array.from({ length: 5 }, () => finish('ended')),
    facts: LOOKED,
    rules: [RATIO_RULE],
    alerts: [firing()],
    sweepAge: 1,
  })
  const { operational, expose } = metricsOf(() => [target], '1.2.3')
  introduceTarget(operational, 'production')
  introduceNotifier(operational, 'slack')
  const requests = [{ operation: 'list_calls', code: '200', seconds: 0.1 }]
  recordCycle(operational, 'production', {
    outcome: 'complete',
    good: true,
    seconds: 0.2,
    requests,
    remaining: 99,
    storeFailed: false,
  })
  const { body } = await expose('prometheus')
  return readExposition(body)
}

describe('a metric of the contract', async () => {
  const families = await scrapeOfEverything()

  test.each(CONTRACT)('is exported: $name, a $type by $labels', ({ name, type, labels }) => {
    const family = families.get(name)
    expect(family?.type).toBe(type)
    expect(family?.help).not.toBe('')
    expect(family?.samples).not.toEqual([])
    for (const sample of family?.samples ?? []) {
      expect(Object.keys(sample.labels).filter((label) => label !== 'le')).toEqual(labels)
    }
  })

  test.each(Object.entries(BUCKETS))('%s has the buckets %j', (name, buckets) => {
    const bounds = families.get(name)!.samples.flatMap(({ labels: { le } }) => le ?? [])
    expect(new Set(bounds)).toEqual(new Set([...buckets.map(String), '+Inf']))
  })

  test('is described as it is exported, and nothing else is', () => {
    const described = describeMetrics().map(({ name, type, labels, help }) => ({ name, type, labels, help }))
    const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1)
    const exported = CONTRACT.map((metric) => ({ ...metric, help: families.get(metric.name)?.help }))
    expect(described).toEqual(exported.toSorted(byName))
    expect([...families.keys()].filter((name) => name.startsWith('callwatch_')).toSorted()).toEqual(
      described.map(({ name }) => name),
    )
  })
})

test('no call and no user is ever in a label', async () => {
  const target = handMadeTarget({ calls: [openCall('v1.us.session-of-ann')], facts: LOOKED })
  const { body } = await metricsOf(() => [target], '1').expose('prometheus')
  expect(body).not.toContain('session-of-ann')
})

test("the process's own metrics come with them", async () => {
  const families = await scrapeOfEverything()
  for (const name of ['process_cpu_seconds_total', 'process_resident_memory_bytes', 'nodejs_eventloop_lag_seconds']) {
    expect(families.get(name)?.samples).not.toEqual([])
  }
})

test('the build is named', async () => {
  const [sample] = (await scrapeOfEverything()).get('callwatch_build_info')!.samples
  expect(sample).toMatchObject({ labels: { version: '1.2.3', node: process.versions.node }, value: 1 })
})
