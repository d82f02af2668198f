import type { Clock } from '../../clock/clock.ts'
import { delayAfter } from '../../clock/delay-after.ts'
import type { DeliveryError } from '../../network/delivery-error.ts'

/** If this many events in a row fail at their first attempt with one of these statuses, the receiver is down. */
const DOWN_AFTER_FAILURES = 5
const DOWN: readonly (number | undefined)[] = [undefined, 429, 502, 503, 504]
/** The longest delay between two requests to a receiver that is down (seconds). */
const MAX_PROBE_DELAY_SECONDS = 15
/** With these statuses, `Retry-After` applies to the receiver; with others, only to the event. */
const BUSY: readonly (number | undefined)[] = [429, 503]
const MAX_RETRY_AFTER_SECONDS = 3600

/**
 * How much callwatch may send to a receiver: many events at once; while the receiver is down, one at a time with delays; none
 * while the receiver asks to wait.
 *
 * @param jittered randomizes a delay (seconds)
 */
export function throttle(clock: Clock, jittered: (delay: number) => number) {
  let failures = 0
  let problem = ''
  let pausedUntil = 0
  const isDown = () => failures >= DOWN_AFTER_FAILURES
  const pauseFor = (seconds: number) => (pausedUntil = Math.max(pausedUntil, clock.monotonic() + seconds))

  return {
    /** Whether another event may be sent while so many are being sent. */
    permits: (active: number) => clock.monotonic() >= pausedUntil && (active === 0 || !isDown()),
    accepted: () => void (failures = 0),
    /**
     * Call it when an event was not accepted.
     *
     * @param isFirst whether it was the first attempt
     */
    failed: ({ message, status, retryAfter = 0 }: DeliveryError, isFirst: boolean): void => {
      // During a pause, only events fail that were already being sent. They give no new information.
      const isNews = isDown() ? clock.monotonic() >= pausedUntil : isFirst
      if (BUSY.includes(status)) pauseFor(Math.min(retryAfter, MAX_RETRY_AFTER_SECONDS))
      if (!DOWN.includes(status)) failures = 0
      else if (isNews) {
        failures += 1
        problem = message
        if (isDown()) pauseFor(jittered(delayAfter(failures - DOWN_AFTER_FAILURES + 1, 1, MAX_PROBE_DELAY_SECONDS)))
      }
    },
    /** Why the receiver is down; undefined if it is not. */
    problem: () => (isDown() ? problem : undefined),
  }
}

/** How long a receiver asks callwatch to wait with this event alone (seconds). */
export function delayOfEvent({ status, retryAfter = 0 }: DeliveryError): number {
  return BUSY.includes(status) ? 0 : Math.min(retryAfter, MAX_RETRY_AFTER_SECONDS)
}
