import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { introduceNotifier, introduceTarget, recordCycle } from '../../src/metrics/record.ts'
import { metricsOf } from '../../src/metrics/registry.ts'
import { finish, firing, handMadeTarget, LOOKED, openCall, RATIO_RULE } from './hand-made-target.ts'

// The service bills in minutes, so minutes are what is exported; the other three are prom-client's own.
const ACCEPTED = [
  'callwatch_call_minutes_total use base unit "seconds" instead of "minutes"',
  'callwatch_minutes_corrections_total use base unit "seconds" instead of "minutes"',
  'callwatch_participant_minutes_total use base unit "seconds" instead of "minutes"',
  'nodejs_active_handles_total non-counter metrics should not have "_total" suffix',
  'nodejs_active_requests_total non-counter metrics should not have "_total" suffix',
  'nodejs_active_resources_total non-counter metrics should not have "_total" suffix',
]

const missing = spawnSync('promtool', ['--version']).error !== undefined

test('promtool finds nothing but what is known and meant', async (context) => {
  if (missing && process.env['CI'] !== 'true') {
    context.skip('promtool is not on the PATH: apt-get install prometheus')
  }
  const target = handMadeTarget({
    counters: { 'callwatch_calls_total|other|other|other|other': 1 },
    calls: [openCall('a')],
    finished: Array.from({ length: 5 }, () => finish('rejected')),
    facts: LOOKED,
    rules: [RATIO_RULE],
    alerts: [firing()],
    sweepAge: 1,
  })
  const { operational, expose } = metricsOf(() => [target], '1')
  introduceTarget(operational, 'production')
  introduceNotifier(operational, 'slack')
  recordCycle(operational, 'production', {
    outcome: 'complete',
    good: true,
    seconds: 1,
    requests: [],
    remaining: 1,
    storeFailed: false,
  })
  const { body } = await expose('prometheus')
  const { error, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: body, encoding: 'utf8' })
  expect(error).toBeUndefined()
  expect(`${stdout}${stderr}`.trim().split('\n').toSorted()).toEqual(ACCEPTED)
})
