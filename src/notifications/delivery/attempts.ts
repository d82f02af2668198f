import type { Clock } from '../../clock/clock.ts'
import { DeliveryError } from '../../network/delivery-error.ts'

const FIRST_DELAY_SECONDS = 1
/** The longest waits (seconds), by themselves and because the receiver asked for it: alerts are at stake. */
const LONGEST = {
  message: { delay: 300, retryAfter: 3600 },
  /** What is not refreshed would count as ended. */
  state: { delay: 60, retryAfter: 60 },
} as const

/** What became of one attempt to deliver. */
export type Attempt = {
  /** `retried`: it is sent again. `dropped`: the receiver refused it for good. */
  outcome: 'sent' | 'retried' | 'dropped'
  /** Why it was not sent. */
  problem?: string
  /** A bug that kept it from being sent. */
  error?: unknown
}

export type Attempts = ReturnType<typeof attemptsOn>

/**
 * The attempts to deliver to one receiver: while it fails, after longer and longer waits, or when it asks for the next one.
 *
 * @param of what is sent: a message that is refused for good is dropped; the state is sent again, as it is by then
 */
export function attemptsOn(clock: Clock, of: 'message' | 'state' = 'message') {
  const longest = LONGEST[of]
  let failures = 0
  let pausedUntil = 0

  function failed(retryAfter?: number): void {
    failures += 1
    const delay = retryAfter ?? Math.min(longest.delay, FIRST_DELAY_SECONDS * 2 ** (failures - 1))
    pausedUntil = clock.monotonic() + Math.min(delay, longest.retryAfter)
  }

  return {
    isPaused: () => clock.monotonic() < pausedUntil,
    /** Never rejects. After a bug it is retried as well: no message may be lost for that. */
    attempt: async (work: () => Promise<void>): Promise<Attempt & { mayHaveArrived: boolean }> => {
      try {
        await work()
        failures = 0
        return { outcome: 'sent', mayHaveArrived: true }
      } catch (error) {
        if (!(error instanceof DeliveryError)) {
          failed()
          return { outcome: 'retried', problem: 'internal error', error, mayHaveArrived: true }
        }
        const { message: problem, retryable, retryAfter, mayHaveArrived } = error
        if (retryable) failed(retryAfter)
        else failures = 0
        // What was refused would be refused again at once.
        if (!retryable && of === 'state') pausedUntil = clock.monotonic() + longest.delay
        return { outcome: retryable || of === 'state' ? 'retried' : 'dropped', problem, mayHaveArrived }
      }
    },
  }
}
