import type { Clock } from '../../clock/clock.ts'
import { delayAfter } from '../../clock/delay-after.ts'
import { DeliveryError } from '../../network/delivery-error.ts'

const FIRST_DELAY_SECONDS = 1
/** The longest waits (seconds): the delay that callwatch chooses, and the one that the receiver requests. */
const LONGEST = {
  message: { delay: 300, retryAfter: 3600 },
  /** Alertmanager would resolve alerts that are not refreshed. */
  state: { delay: 60, retryAfter: 60 },
} as const
/** A message may have arrived so often; after that it is sent again once each longest delay. */
const MOST_UNANSWERED = 3

/** What a bug counts as. */
const BUG = new DeliveryError('internal error', { retryable: true, mayHaveArrived: true })

/** The outcome of one attempt to deliver. */
export type Attempt = {
  /** `retried`: it failed, and callwatch sends it again. */
  outcome: 'sent' | 'retried'
  /** Why the attempt failed; of one that succeeded, why another message to the receiver fails. */
  problem?: string
  /** Of one that may have succeeded, and is not repeated: why that is not certain. */
  unconfirmed?: string
  /** Of one that failed: whether the message may have arrived anyway. */
  mayHaveArrived?: boolean
  /** In how many seconds the next attempt is due; of one that succeeded, that of what fails. */
  retryIn?: number
  /** A bug that made the attempt fail. */
  error?: unknown
}

/** Whether it may have arrived, and would never be confirmed: it counts as accepted. */
const isUnconfirmed = (error: unknown): error is DeliveryError =>
  error instanceof DeliveryError && !error.retryable && error.mayHaveArrived

/** A pause, and what an attempt that is accepted, or fails, changes of it. */
type Outcomes = { left: () => number; accepted: () => Attempt; fail: (error: unknown) => Attempt }

/** The pauses between attempts to deliver one thing. */
export type BackOff = ReturnType<typeof backOff>

/** Whether everything to the receiver must wait: it cannot be reached, or asked to wait. */
export const isOfReceiver = (error: unknown) =>
  error instanceof DeliveryError &&
  error.retryable &&
  (error.retryAfter !== undefined || (error.status === undefined && !error.mayHaveArrived))

/**
 * After failures it pauses longer and longer, or for as long as the receiver requests. What the receiver refuses pauses for the longest
 * delay: the receiver may be the cause, such as a webhook that was rotated.
 *
 * @param of what is delivered
 */
export function backOff({ monotonic, wall }: Clock, of: keyof typeof LONGEST = 'message') {
  const longest = LONGEST[of]
  let [failures, unanswered, ends] = [0, 0, -Infinity]
  let failed: { since: number; problem: string } | undefined

  const left = () => Math.max(0, ends - monotonic())

  function accepted(): Attempt {
    ;[failures, unanswered, ends, failed] = [0, 0, -Infinity, undefined]
    return { outcome: 'sent' }
  }

  function fail(error: unknown): Attempt {
    const isBug = !(error instanceof DeliveryError)
    const { message: problem, retryable, retryAfter, mayHaveArrived } = isBug ? BUG : error
    // What was under way when the pause began is no further failure.
    if (left() === 0) failures += 1
    if (mayHaveArrived) unanswered += 1
    failed = { since: failed?.since ?? wall(), problem }
    const isLast = !retryable || (of === 'message' && unanswered >= MOST_UNANSWERED)
    const usual = isLast ? longest.delay : delayAfter(failures, FIRST_DELAY_SECONDS, longest.delay)
    const retryIn = Math.min(retryAfter || usual, longest.retryAfter)
    ends = Math.max(ends, monotonic() + retryIn)
    return { outcome: 'retried', problem, mayHaveArrived, retryIn, ...(isBug && { error }) }
  }

  return {
    /** How long the pause still lasts (seconds); 0 without one. */
    left,
    /** Since when attempts have failed (UNIX seconds), and why; undefined: the last one succeeded. */
    failed: () => failed,
    accepted,
    fail,
    /**
     * Never rejects. After a bug it is retried as well: no message may be lost for that.
     *
     * @param whole what pauses if everything must wait
     */
    attempt: async (work: () => Promise<unknown>, whole?: Outcomes): Promise<Attempt> => {
      try {
        await work()
      } catch (error) {
        if (!isUnconfirmed(error)) return whole !== undefined && isOfReceiver(error) ? whole.fail(error) : fail(error)
        return { ...accepted(), unconfirmed: error.message }
      }
      // What was under way when that pause began does not end it.
      if (whole?.left() === 0) whole.accepted()
      return accepted()
    },
  }
}
