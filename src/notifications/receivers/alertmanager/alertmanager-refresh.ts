import { exhaustMap, filter, takeUntil, timer, type Observable } from 'rxjs'
import type { Clock } from '../../../clock/clock.ts'
import type { LiveAlert } from '../../../alerts/alert-instance.ts'
import { alertKey, alertmanagerAlert } from './alertmanager-alert.ts'
import { alertmanagerPost, type PostAlerts } from './alertmanager-post.ts'
import { DeliveryError } from '../../../network/delivery-error.ts'

/** What became of one attempt to notify Alertmanager. */
export type AlertmanagerDelivery = {
  /** The receiver's name. */
  receiver: string
  /** `retried`: what was not accepted is posted again. Nothing is ever dropped. */
  outcome: 'sent' | 'retried'
  /** Why it was not sent. */
  problem?: string
}

export type AlertmanagerOptions = {
  /** Of the receiver. */
  name: string
  /** Alertmanager's own address, without `/api/v2/alerts`. */
  url: string
  clock: Clock
  /** All instances as they are now; what is not firing is left out here. */
  instances: () => Iterable<LiveAlert>
  /** Seconds between two polls. */
  interval: number
  /** Emits when nothing more may be sent; a request under way is finished. */
  draining$: Observable<unknown>
  /** Of callwatch, for the user agent. */
  version?: string | undefined
  /** Where the alerts are shown, an absolute address. */
  pageUrl?: string | undefined
  /** How Alertmanager is reached; by HTTP unless said otherwise. */
  post?: PostAlerts
}

/** What fires is posted again after this long (seconds), and what was refused. */
const REFRESH_SECONDS = 60
const FIRST_DELAY_SECONDS = 1
/** Longer waits (seconds) are not granted, not even by `Retry-After`: alerts that are not refreshed would expire. */
const MAX_DELAY_SECONDS = 60
/** Without a refresh an alert resolves after so many polls, and not before so many seconds. */
const LIFETIME_POLLS = 4
const MIN_LIFETIME_SECONDS = 300

/** An alert that Alertmanager may know of, and when it ended. */
type Posted = LiveAlert & { ended?: { wall: number; monotonic: number } }

/**
 * Posts to Alertmanager what fires, until `draining$`: at once when that has changed, and again each minute. Bypasses the outbox,
 * for it is a state and not a message: what is accepted last is true. When callwatch dies, alerts end by their
 * `endsAt`. A failing Alertmanager is retried after longer and longer waits, up to a minute. Never errors.
 *
 * An ended alert is posted until a post at least a minute after its end was accepted. Alertmanager uses its own clock: if
 * that is some milliseconds behind ours, what ends now has not ended yet, and the later `endsAt` that was posted before
 * stays until we repeat ours.
 */
export function alertmanagerRefresh(options: AlertmanagerOptions): Observable<AlertmanagerDelivery> {
  const { name, clock, instances, interval, draining$, pageUrl, post = alertmanagerPost(options) } = options
  const lifetime = Math.max(LIFETIME_POLLS * interval, MIN_LIFETIME_SECONDS)
  const posted = new Map<string, Posted>()
  let accepted = new Set<string>()
  let failures = 0
  let refreshAt = 0
  let notBefore = 0

  async function refresh(): Promise<AlertmanagerDelivery | undefined> {
    const started = clock.monotonic()
    try {
      const firing = firingOf(instances())
      endOthers(firing, started)
      const isDue = accepted.symmetricDifference(firing).size > 0 || (posted.size > 0 && started >= refreshAt)
      if (!isDue || started < notBefore) return undefined
      // Before it is known whether they are accepted: an answer that got lost may have been one.
      for (const [key, instance] of firing) posted.set(key, instance)
      await post([...posted.values()].map(alertOf))
      accepted = new Set(firing.keys())
      failures = 0
      refreshAt = started + REFRESH_SECONDS
      forgetEnded(started)
      return { receiver: name, outcome: 'sent' }
    } catch (error) {
      // Instances that cannot be read: they are read each second, and the problem is reported once a minute.
      if (started < notBefore) return undefined
      notBefore = clock.monotonic() + delayAfter(error)
      const problem = error instanceof Error ? error.message : String(error)
      return { receiver: name, outcome: 'retried', problem }
    }
  }

  /** Also while it may not be posted yet: it ended now, not when it can be posted. */
  function endOthers(firing: ReadonlyMap<string, LiveAlert>, monotonic: number): void {
    for (const [key, one] of posted) {
      if (!firing.has(key)) one.ended ??= { wall: clock.wall(), monotonic }
    }
  }

  function alertOf({ ended, ...instance }: Posted) {
    const now = clock.wall()
    const endsAt = ended === undefined ? now + lifetime : Math.min(ended.wall, now)
    return alertmanagerAlert(instance, { now, endsAt }, pageUrl)
  }

  function forgetEnded(postedAt: number): void {
    for (const [key, { ended }] of posted) {
      if (ended !== undefined && postedAt - ended.monotonic >= REFRESH_SECONDS) posted.delete(key)
    }
  }

  /** Seconds until the next attempt. What was refused would be refused again at once. */
  function delayAfter(error: unknown): number {
    if (!(error instanceof DeliveryError) || !error.retryable) {
      failures = 0
      return REFRESH_SECONDS
    }
    failures += 1
    return Math.min(error.retryAfter ?? FIRST_DELAY_SECONDS * 2 ** (failures - 1), MAX_DELAY_SECONDS)
  }

  return timer(0, 1000, clock.scheduler).pipe(
    takeUntil(draining$),
    exhaustMap(refresh),
    filter((delivery) => delivery !== undefined),
  )
}

/** What counts as firing, by its identity in Alertmanager. */
function firingOf(instances: Iterable<LiveAlert>): Map<string, LiveAlert> {
  const firing = new Map<string, LiveAlert>()
  for (const { target, instance } of instances) {
    if (instance.state !== 'pending') firing.set(alertKey({ target, instance }), { target, instance })
  }
  return firing
}
