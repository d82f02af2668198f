import type { FinishedCounts } from '../ledger/finished-calls.ts'
import type { Reading } from './reading.ts'
import type { Rule } from './rule.ts'

/** A rule that is pending or firing for a target; what is inactive has no instance. Durable. Times are UNIX seconds. */
export type AlertInstance = {
  /** The rule as it was last judged by. The name identifies: editing a threshold does not orphan an open incident. */
  readonly rule: Rule
  readonly state: 'pending' | 'firing'
  /** When the breach was first seen. */
  readonly since: number
  readonly firingSince: number | undefined
  /** Seconds of breach that count towards `for`. */
  readonly credited: number
  readonly evaluatedAt: number
  readonly value: number
  readonly peak: number
  readonly counts: FinishedCounts | undefined
  /** Since when a firing alert has had too few calls for a verdict, later by the time that nobody looked. */
  readonly tooFewSince: number | undefined
}

/** How an instance came to speak. `closed` is no resolution: nobody knows how it went on. */
export type Change = 'firing' | 'resolved' | 'closed'

/** Two evaluations further apart than this many intervals do not prove that the breach lasted in between. */
const CREDITED_INTERVALS = 3

/**
 * inactive → pending → firing → inactive, one evaluation on.
 *
 * @param before undefined where the rule was inactive
 * @param now the host's clock (UNIX seconds); where it steps, no time is credited
 * @param interval seconds between two evaluations, as they should come
 */
export function advance(
  before: AlertInstance | undefined,
  rule: Rule,
  reading: Reading,
  now: number,
  interval: number,
): { instance: AlertInstance | undefined; change?: Change } {
  const { value, counts, tooFew } = reading
  if (before?.state === 'firing') {
    if (tooFew) return withTooFewCalls(before, rule, now, interval)
    if (value <= rule.clear) return { instance: undefined, change: 'resolved' }
    const peak = Math.max(before.peak, value)
    return { instance: { ...before, rule, value, counts, peak, evaluatedAt: now, tooFewSince: undefined } }
  }
  if (tooFew || !(value > rule.above)) return { instance: undefined }
  const credited = before === undefined ? 0 : before.credited + creditedSince(before, now, interval)
  const since = before?.since ?? now
  const peak = Math.max(before?.peak ?? value, value)
  const pending: AlertInstance = {
    rule,
    state: 'pending',
    since,
    firingSince: undefined,
    credited,
    evaluatedAt: now,
    value,
    peak,
    counts,
    tooFewSince: undefined,
  }
  if (credited < rule.for) return { instance: pending }
  return { instance: { ...pending, state: 'firing', firingSince: now }, change: 'firing' }
}

/** Silence resolves nothing: for one window of looks the alert stays as it was, then it is closed. */
function withTooFewCalls(
  before: AlertInstance,
  rule: Rule,
  now: number,
  interval: number,
): { instance: AlertInstance | undefined; change?: Change } {
  const notCredited = now - before.evaluatedAt - creditedSince(before, now, interval)
  const tooFewSince = before.tooFewSince === undefined ? now : before.tooFewSince + notCredited
  const window = rule.signal === 'failure_ratio' ? rule.window : 0
  if (now - tooFewSince >= window) return { instance: undefined, change: 'closed' }
  return { instance: { ...before, rule, evaluatedAt: now, tooFewSince } }
}

/** Seconds since the last evaluation, where the two are near enough to vouch for the time between them. */
function creditedSince({ evaluatedAt }: AlertInstance, now: number, interval: number): number {
  const gap = now - evaluatedAt
  return gap > 0 && gap <= CREDITED_INTERVALS * interval ? gap : 0
}
