import { drawSwitches } from '../../kit/world/draw-switches.ts'
import { faultNames } from '../../../src/simulator/answers/faults.ts'
import type { Random } from '../../../src/simulator/random.ts'
import type { Switches } from '../../kit/world/switches.ts'

const ORDERS = ['newest', 'oldest', 'shuffled'] as const
/** The service's clock is at most so many seconds off. */
const MOST_DATE_OFFSET = 60
/** Less than the interval between two polls. */
const STALE_SECONDS = 0.4
/** Most webhooks of the service come too late, twice, for nothing or not at all. */
const WEBHOOK_FAULT = { lost: 0.2, late: 0.1, twice: 0.1, reordered: 0.1, other_app: 0.1, forged: 0.1 }
/** A fault that has not occurred yet is so many times as likely. */
const BIAS = 8

/**
 * Switches with a quarter of all requests failing, drawn from the seed and biased towards what has not occurred
 * yet. Labels do not change: a call's row does not keep enough to take such a call out of a comparison.
 *
 * @param mayStep whether the service's clock may be off: not before it was first compared, since by that the moment of
 *   the set-up is decided, and not without a Date header, since then the offset would be unknown
 */
export function chaosSwitches(
  seed: string,
  draw: Random,
  { reached, mayStep }: { reached: Record<string, number>; mayStep: boolean },
): Partial<Switches> {
  const { arrivals: _arrivals, outage: _outage, ...drawn } = drawSwitches(seed, 1, { mostDateOffset: MOST_DATE_OFFSET })
  const { labels_changed: _labels, ...facts } = drawn.facts
  const missing = ORDERS.find((order) => reached[`order.${order}`] === undefined)
  const date = draw() < 0.5 && reached['date.absent'] === undefined ? 'absent' : drawn.date
  const isStepped = mayStep && date === 'given' && (reached['date.offset'] === undefined || drawn.dateOffset !== 0)
  return {
    ...drawn,
    facts,
    unlisted: 'found',
    date,
    order: missing !== undefined && draw() < 0.5 ? missing : drawn.order,
    dateOffset: isStepped ? drawn.dateOffset || Math.round((draw() * 2 - 1) * MOST_DATE_OFFSET) || 1 : 0,
    fault: biased(drawn.fault, reached),
    webhookFault: WEBHOOK_FAULT,
    ...hardList(draw),
  }
}

/** Sometimes one way in which a list contradicts itself: a stale page, a capped total, hidden calls, no page past the last. */
function hardList(draw: Random): Partial<Switches> {
  const hard: Partial<Switches>[] = [
    { cacheSeconds: STALE_SECONDS, age: draw() < 0.5 ? 'given' : 'absent' },
    { replicaLag: STALE_SECONDS },
    { totalCap: 30 + Math.floor(draw() * 100) },
    { hiddenRows: 1 + Math.floor(draw() * 4) },
    { pastLast: draw() < 0.5 ? 404 : 400 },
  ]
  const none = { cacheSeconds: 0, replicaLag: 0, totalCap: 'none', hiddenRows: 0, pastLast: 'empty' } as const
  return { ...none, ...(draw() < 0.3 ? hard[Math.floor(draw() * hard.length)] : {}) }
}

/** The same sum, with more of what has not occurred. */
function biased(fault: Switches['fault'], reached: Record<string, number>): Switches['fault'] {
  const weights = faultNames.map((name) => (fault[name] ?? 0) * (reached[`fault.${name}`] === undefined ? BIAS : 1))
  const total = (numbers: readonly number[]) => numbers.reduce((sum, number) => sum + number, 0)
  const scale = total(Object.values(fault)) / total(weights)
  return Object.fromEntries(faultNames.map((name, i) => [name, weights[i]! * scale]))
}
