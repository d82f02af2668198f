import { expect, test } from 'vitest'
import { introduceNotifier, introduceTarget, recordCycle } from '../../src/metrics/record.ts'
import { metricsOf } from '../../src/metrics/registry.ts'
import { ACCEPTED_COMPLAINTS, complaintsOf, skipWithoutPromtool } from '../prometheus/promtool.ts'
import { finish, firing, handMadeTarget, LOOKED, openCall, RATIO_RULE } from './hand-made-target.ts'

test('promtool finds nothing but what is known and meant', async (context) => {
  skipWithoutPromtool(context)
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
  expect(complaintsOf(body)).toEqual(ACCEPTED_COMPLAINTS)
})
