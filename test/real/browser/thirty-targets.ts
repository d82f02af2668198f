import type { AlertInstance } from '../../../src/alerts/alert-instance.ts'
import type { Rule } from '../../../src/alerts/rule.ts'
import type { FinalStatus } from '../../../src/ledger/call.ts'
import type { TargetStatus } from '../../../src/pipeline/target.ts'
import { RATIO } from '../../kit/alerts/sample-rules.ts'
import { finish, firing, openCall, POLLED } from '../../kit/metrics/hand-made-target.ts'
import { shownTarget } from '../../kit/web/serve.ts'

const WARNING: Rule = { ...RATIO, name: 'HighFailureRate', for: 120 }
const CRITICAL: Rule = { ...RATIO, name: 'VeryHighFailureRate', severity: 'critical', threshold: 0.5, clear: 0.4 }

/** They are not stale before a slow test ends (seconds). */
const INTERVAL = 60

/**
 * Thirty targets with two rules each and an hour of calls: region-05 is not polled, alerts of region-11 (critical), region-17
 * and region-23 (pending) are active, and the others are healthy.
 * There can be more of the healthy ones.
 */
export function thirtyTargets(count = 30): TargetStatus[] {
  return Array.from({ length: count }, (_, i) => {
    const target = `region-${String(i).padStart(2, '0')}`
    const alert = ALERTS[i]
    return shownTarget({
      target,
      rules: [WARNING, CRITICAL],
      alerts: alert === undefined ? [] : [alert],
      calls: Array.from({ length: (i * 7) % 13 }, (_, call) => openCall(`${target}-${call}`)),
      finished: Array.from({ length: 120 }, (_, call) => finish(statusOf(i, call), 10 + call * 29)),
      sync: POLLED,
      interval: INTERVAL,
      ...(i === 5 && { pollAge: 600, problem: 'no answer from api.example.com within 10 s' }),
    })
  })
}

/** Three hundred targets, or another number, on all but five of which most calls fail, on one at least; those with an alert have from 20 to 39 calls. */
export function incidentTargets(count = 300): TargetStatus[] {
  const failing = Math.max(1, count - 5)
  return Array.from({ length: count }, (_, i) => {
    const total = 20 + ((i * 7) % 20)
    const failed = Math.ceil(total * (0.6 + ((i * 11) % 30) / 100))
    const counts = { ended: total - failed, unanswered: failed - 3, rejected: 2, canceled: 1, other: 0, total }
    const alert = { ...firing(CRITICAL), value: failed / total, peak: failed / total, calls: total, counts }
    return shownTarget({
      target: `${['bank', 'shop', 'school'][i % 3]}-eu-${String(i).padStart(2, '0')}`,
      rules: [WARNING, CRITICAL],
      alerts: i >= failing ? [] : [alert],
      calls: Array.from({ length: i % 7 }, (__, call) => openCall(`${i}-${call}`)),
      finished: Array.from({ length: 120 }, (__, call) =>
        finish(call < 25 && call % 5 > 0 && i < failing ? 'unanswered' : statusOf(i, call), 10 + call * 29),
      ),
      sync: POLLED,
      interval: INTERVAL,
    })
  })
}

const ALERTS: Partial<Record<number, AlertInstance>> = {
  11: { ...firing(CRITICAL), value: 0.61, peak: 0.72 },
  17: firing(WARNING),
  23: { ...firing(WARNING), state: 'pending', firingSince: undefined },
}

function statusOf(target: number, call: number): FinalStatus {
  const every = { 11: 2, 17: 3, 23: 3 }[target] ?? 9 + (target % 7)
  if (call % every !== 0) return 'ended'
  return (['unanswered', 'rejected', 'canceled'] as const)[call % 3]!
}
