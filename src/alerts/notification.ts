import { failureCount } from '../ledger/failure-ratio.ts'
import { alertOf, withHeld, type Alert, type LiveAlert } from './alert.ts'
import { firedThreshold, measuredIn, type AlertInstance } from './alert-instance.ts'
import type { Change } from './signal.ts'
import { withUsual } from './usual.ts'
import { addValue, type ValueAt } from './values-over-time.ts'

/** Why an alert expired, and what a reader must know then. */
export const EXPIRED = {
  'too few calls': 'There were too few calls or requests to know whether this has ended.',
  'rule removed': 'The rule was removed from the configuration: it is evaluated no longer.',
  'rule changed': 'The `by` or `match` of the rule changed: its alerts restart.',
  'target removed': 'The target was removed from the configuration: it is polled no longer.',
  'target reset': 'The counts of the target were reset.',
}
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of a list that never changes
export const EXPIRED_BECAUSE = Object.keys(EXPIRED) as (keyof typeof EXPIRED)[]

/** A change of one alert, with enough to decide whether to act. `threshold` is what the value was compared with. */
export type Notification = Alert & {
  kind: Change
  expiredBecause?: keyof typeof EXPIRED
  at: number
  /**
   * For the history: the threshold at which the alert fired, if the rule has another one now. When the alert ends, also
   * its values, and the start of the window in which it first fired.
   */
  episode?: { threshold: number; values?: readonly ValueAt[]; measuredFrom?: number | undefined } | undefined
}

/** The notification of a change of an alert. @param freshFrom what was evaluated before (UNIX seconds) is old */
export function notificationOf(
  change: Pick<Notification, 'kind' | 'expiredBecause'>,
  live: LiveAlert,
  at: number,
  freshFrom = -Infinity,
): Notification {
  const alert = withHeld(alertOf(live), live.instance.evaluatedAt, freshFrom)
  const threshold = change.kind === 'resolved' ? alert.clear : alert.threshold
  return { ...alert, ...change, threshold, at, episode: episodeOf(change.kind, live.instance, at) }
}

function episodeOf(kind: Change, instance: AlertInstance, at: number): Notification['episode'] {
  const { rule, value, usual, measuredFrom, values = [] } = instance
  const threshold = firedThreshold(instance)
  if (!hasEnded({ kind })) return threshold === withUsual(rule, usual).threshold ? undefined : { threshold }
  const whole = kind === 'resolved' ? addValue(values, [at, value], rule.breach) : values
  return { threshold, values: whole, measuredFrom }
}

/** The firing instance of an alert, with what its notification has of it. */
export function instanceOf({ alert, kind: _kind, target: _target, ...rest }: Notification): AlertInstance {
  const { key, labels, since, firingSince, peak, at } = rest
  const times = { since, firingSince, credited: 0, evaluatedAt: at }
  const rule = { ...rest, name: alert }
  return {
    key,
    labels,
    peak,
    ...measuredIn(rest),
    ...times,
    state: 'firing',
    rule,
    evidence: rest,
  }
}

export function hasEnded({ kind }: Pick<Notification, 'kind'>): boolean {
  return kind === 'resolved' || kind === 'expired'
}

/** How many of the calls behind a ratio failed for the rule's reason. */
export function failuresOf({ signal, counts }: Pick<Notification, 'signal' | 'counts'>): number | undefined {
  return counts === undefined || !('reason' in signal) ? undefined : failureCount(counts, signal.reason)
}
