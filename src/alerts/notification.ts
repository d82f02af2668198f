import { failureCount } from '../ledger/failure-ratio.ts'
import { alertOf, type Alert, type LiveAlert } from './alert.ts'
import { firedThreshold, type AlertInstance, type Change } from './alert-instance.ts'
import type { Contributor, Window } from './signal.ts'
import { addValue, type ValueAt } from './values-over-time.ts'

/** What explains the value of an alert. */
export type Evidence = {
  /** The top contributor to the failures. */
  contributor?: Contributor
  /** The values of the windows up to now, the oldest first; null where there were too few calls. */
  trend?: readonly (number | null)[]
  /** Of a budget: the share of the limit that the month will come to at this rate. */
  forecast?: number
  /** The calls that it was measured by finished in this window, both ends included (UNIX seconds by the service's clock). */
  window?: Window
  /** Of `poll_age`: why polls fail. */
  cause?: string
  /** When the value was measured, where that is long ago. */
  asOf?: number
}

/** A change of one alert, with enough to decide whether to act. Its threshold is what the value was compared with. */
export type Notification = Alert & {
  kind: Change
  /** Why an alert expired, without having resolved. */
  expiredBecause?: 'too few calls' | 'rule removed' | 'rule changed' | 'target removed' | 'target reset'
  at: number
  /**
   * For the history: the threshold at which it fired, where the rule's is another one by now; of an end, how the value went, and when
   * the first calls finished that it was measured by.
   */
  episode?: { threshold: number; values?: readonly ValueAt[]; measuredFrom?: number }
}

/** The notification of a change that an alert just made. */
export function notificationOf(
  change: Pick<Notification, 'kind' | 'expiredBecause'>,
  live: LiveAlert,
  at: number,
): Notification {
  const alert = alertOf(live)
  const threshold = change.kind === 'resolved' ? alert.clear : alert.threshold
  return { ...alert, ...change, threshold, at, ...episodeOf(change, live.instance, at) }
}

function episodeOf(
  { kind }: Pick<Notification, 'kind'>,
  instance: AlertInstance,
  at: number,
): Pick<Notification, 'episode'> {
  const { rule, value, measuredFrom, values = [] } = instance
  const threshold = firedThreshold(instance)
  if (!hasEnded({ kind })) return threshold === rule.threshold ? {} : { episode: { threshold } }
  const whole = kind === 'resolved' ? addValue(values, [at, value], rule.breach) : values
  return { episode: { threshold, values: whole, ...(measuredFrom !== undefined && { measuredFrom }) } }
}

export function hasEnded({ kind }: Pick<Notification, 'kind'>): boolean {
  return kind === 'resolved' || kind === 'expired'
}

/** How many of the calls behind a ratio failed in the way that the rule is about. */
export function failuresOf({ signal, counts }: Pick<Notification, 'signal' | 'counts'>): number | undefined {
  return counts === undefined || !('reason' in signal) ? undefined : failureCount(counts, signal.reason)
}
