import type { Clock } from '../../clock/clock.ts'
import type { DeliveryError } from '../../network/delivery-error.ts'
import type { QueuedEvent } from './event-queue.ts'

/** The most requests at the same time. */
const CONCURRENT = 16
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
  /** The event that is sent while the receiver is down. */
  let probe: QueuedEvent | undefined
  const isDown = () => failures >= DOWN_AFTER_FAILURES
  const pauseFor = (seconds: number) => (pausedUntil = Math.max(pausedUntil, clock.monotonic() + seconds))

  return {
    /** Whether another event may be sent while so many are being sent. */
    permits: (active: number) => clock.monotonic() >= pausedUntil && active < (isDown() ? 1 : CONCURRENT),
    /** Call it when an event is sent. */
    sent: (event: QueuedEvent) => void (probe = isDown() ? event : undefined),
    accepted: () => void (failures = 0),
    /** Call it when an event was not accepted, after counting the attempt. */
    failed: (event: QueuedEvent, { message, status, retryAfter = 0 }: DeliveryError) => {
      if (BUSY.includes(status)) pauseFor(Math.min(retryAfter, MAX_RETRY_AFTER_SECONDS))
      if (!DOWN.includes(status)) {
        failures = 0
        return
      }
      // Events that were already being sent when the receiver went down give no new information.
      if (isDown() ? event !== probe : event.attempts > 1) return
      failures += 1
      problem = message
      if (isDown())
        pauseFor(jittered(Math.min(MAX_PROBE_DELAY_SECONDS, 2 ** Math.min(failures - DOWN_AFTER_FAILURES, 20))))
    },
    /** Forgets failures and pauses. */
    reset: () => {
      failures = 0
      pausedUntil = 0
    },
    /** Why the receiver is down; undefined if it is not. */
    problem: () => (isDown() ? problem : undefined),
  }
}

/** How long a receiver asks callwatch to wait with this event alone (seconds). */
export function delayOfEvent({ status, retryAfter = 0 }: DeliveryError): number {
  return BUSY.includes(status) ? 0 : Math.min(retryAfter, MAX_RETRY_AFTER_SECONDS)
}
