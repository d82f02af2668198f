import { describe, expect, test } from 'vitest'
import { recordPoll } from '../../../src/metrics/record.ts'
import { initSeries } from '../../../src/metrics/series.ts'
import { metricsOf } from '../../../src/metrics/registry.ts'
import { RATIO } from '../../kit/alerts/sample-rules.ts'
import { RULE_LABELS } from '../../../src/alerts/groups.ts'
import { finish, firing, handMadeTarget, POLLED, openCall } from '../../kit/metrics/hand-made-target.ts'
import { ACCEPTED_COMPLAINTS, complaintsOf, skipWithoutPromtool } from '../../kit/promtool.ts'
import { describeMetrics } from '../../../config/grafana/describe-metrics.ts'
import { readExposition } from '../../kit/metrics/read-exposition.ts'

const BUCKETS = {
  callwatch_call_duration_seconds: [1, 5, 10, 30, 60, 300, 600, 1800, 3600, 7200],
  callwatch_call_answer_delay_seconds: [1, 2, 5, 10, 15, 20, 30, 45, 60, 90],
  callwatch_call_participants: [1, 2, 3, 4, 6, 8, 12, 25, 50],
}

const RELATIVE = { name: 'calls_finished', window: 900, relativeTo: 1800, minCallsThen: 1 } as const

/** An exposition in which every metric has a value. */
async function exposition(): Promise<string> {
  const target = handMadeTarget({
    counters: { 'callwatch_calls_total|other|other|other|other': 1 },
    calls: [openCall('a')],
    finished: [...Array.from({ length: 5 }, () => finish('ended')), finish('ended', 2000)],
    sync: POLLED,
    // Each group has a value of its own.
    rules: [
      { ...RATIO, by: RULE_LABELS, signal: { ...RATIO.signal, minCalls: 5 } },
      { ...RATIO, name: 'More', by: RULE_LABELS, signal: RELATIVE },
    ],
    alerts: [firing()],
    sweepAge: 1,
  })
  const { operational, expose } = metricsOf(() => [target], '1.2.3')
  initSeries(operational, 'target', 'production')
  initSeries(operational, 'receiver', 'slack')
  initSeries(operational, 'webhook', 'crm')
  const { webhookPending, webhookOldestPending, webhookDeadLetters, webhookPaused } = operational
  for (const gauge of [webhookPending, webhookOldestPending, webhookDeadLetters, webhookPaused]) {
    gauge.set({ webhook: 'crm' }, 0)
  }
  operational.serviceWebhooks.inc({ target: 'production', trigger: 'call_ended', outcome: 'hint' })
  operational.serviceWebhookLag.observe({ target: 'production' }, 1)
  operational.serviceWebhookEnds.inc({ target: 'production', announced: 'yes' })
  const requests = [{ operation: 'list_calls' as const, code: '200', seconds: 0.1 }]
  recordPoll(operational, 'production', {
    outcome: 'complete',
    successful: true,
    seconds: 0.2,
    requests,
    remaining: 99,
  })
  return (await expose('prometheus')).body
}

describe('the metrics contract', async () => {
  const families = readExposition(await exposition())

  test.each(describeMetrics())(
    'has $name, a $type by $labels, with a help text and samples',
    ({ name, type, labels, help }) => {
      const family = families.get(name)
      expect(family).toMatchObject({ type, help })
      expect(help).not.toBe('')
      expect(family?.samples).not.toEqual([])
      for (const sample of family?.samples ?? []) {
        expect(Object.keys(sample.labels).filter((label) => label !== 'le')).toEqual(labels)
      }
    },
  )

  test.each(Object.entries(BUCKETS))('has %s with the buckets %j', (name, buckets) => {
    const bounds = families.get(name)!.samples.flatMap(({ labels: { le } }) => le ?? [])
    expect(new Set(bounds)).toEqual(new Set([...buckets.map(String), '+Inf']))
  })

  test('has no other metric than docs/contract.txt and docs/metrics.md list', () => {
    expect([...families.keys()].filter((name) => name.startsWith('callwatch_')).toSorted()).toEqual(
      describeMetrics().map(({ name }) => name),
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
