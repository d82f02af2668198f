import type { Clock } from '../../../clock/clock.ts'
import type { LiveAlert } from '../../../alerts/alert.ts'
import { alertKey, alertmanagerAlert } from './alertmanager-alert.ts'
import { alertmanagerPost, type PostAlerts } from './alertmanager-post.ts'
import type { Refresh, State } from '../../receiver.ts'

export type AlertmanagerOptions = {
  /** Alertmanager's own address, without `/api/v2/alerts`. */
  url: string
  clock: Clock
  /** Where the alerts are shown, an absolute address. */
  pageUrl?: string | undefined
  /** How Alertmanager is reached; by HTTP unless said otherwise. */
  post?: PostAlerts
}

/** What fires is posted again after this long (seconds). */
const REFRESH_SECONDS = 60
/** What is due is looked for each second; no post takes so long (seconds). */
const MAX_PAUSE_SECONDS = 20
/** Without a refresh an alert resolves after so many polls, and not before so many seconds. */
const LIFETIME_POLLS = 4
const MIN_LIFETIME_SECONDS = 300

/** An alert that Alertmanager may know of, and when it ended. */
type Posted = LiveAlert & { ended?: { wall: number; monotonic: number } }

/**
 * Posts to Alertmanager what fires: at once when that has changed, and again each minute. Bypasses the outbox, for it is a state and
 * not a message: what is accepted last is true. When callwatch dies, alerts end by their `endsAt`.
 *
 * An ended alert is posted until a post at least a minute after its end was accepted. Alertmanager uses its own clock: if
 * that is some milliseconds behind ours, what ends now has not ended yet, and the later `endsAt` that was posted before
 * stays until we repeat ours.
 */
export function alertmanagerRefresh(options: AlertmanagerOptions): Refresh {
  const { clock, pageUrl, post = alertmanagerPost(options) } = options
  const posted = new Map<string, Posted>()
  let accepted = new Set<string>()
  let refreshAt = 0
  let lookedAt = clock.monotonic()

  /** Another daemon has posted since, if this one is the leader again. */
  function forgetOlder(now: number): void {
    if (now - lookedAt > MAX_PAUSE_SECONDS) {
      posted.clear()
      accepted = new Set()
      refreshAt = 0
    }
    lookedAt = now
  }

  function refresh({ alerts, interval }: State): (() => Promise<void>) | undefined {
    const started = clock.monotonic()
    forgetOlder(started)
    const firing = firingOf(alerts())
    endOthers(firing, started)
    const isDue = accepted.symmetricDifference(firing).size > 0 || (posted.size > 0 && started >= refreshAt)
    if (!isDue) return undefined
    return async () => {
      // Before it is known whether they are accepted: an answer that got lost may have been one.
      for (const [key, instance] of firing) posted.set(key, instance)
      const lifetime = Math.max(LIFETIME_POLLS * interval(), MIN_LIFETIME_SECONDS)
      await post([...posted.values()].map((one) => alertOf(one, lifetime)))
      accepted = new Set(firing.keys())
      refreshAt = started + REFRESH_SECONDS
      forgetEnded(started)
    }
  }

  /** Also while it may not be posted yet: it ended now, not when it can be posted. */
  function endOthers(firing: ReadonlyMap<string, LiveAlert>, monotonic: number): void {
    for (const [key, one] of posted) {
      if (!firing.has(key)) one.ended ??= { wall: clock.wall(), monotonic }
    }
  }

  function alertOf({ ended, ...instance }: Posted, lifetime: number) {
    const now = clock.wall()
    const endsAt = ended === undefined ? now + lifetime : Math.min(ended.wall, now)
    return alertmanagerAlert(instance, { now, endsAt }, pageUrl)
  }

  function forgetEnded(postedAt: number): void {
    for (const [key, { ended }] of posted) {
      if (ended !== undefined && postedAt - ended.monotonic >= REFRESH_SECONDS) posted.delete(key)
    }
  }

  return refresh
}

/** What counts as firing, by its identity in Alertmanager. */
function firingOf(instances: Iterable<LiveAlert>): Map<string, LiveAlert> {
  const firing = new Map<string, LiveAlert>()
  for (const { target, instance } of instances) {
    if (instance.state !== 'pending') firing.set(alertKey({ target, instance }), { target, instance })
  }
  return firing
}
