import type { Clock } from '../../clock/clock.ts'
import { DeliveryError } from '../../network/delivery-error.ts'

const FIRST_DELAY_SECONDS = 1
/**
 * The longest waits (seconds): the delay that callwatch chooses, and the one that the receiver requests. They are short,
 * because alerts are waiting.
 */
const LONGEST = {
  message: { delay: 300, retryAfter: 3600 },
  /** Alertmanager would resolve alerts that are not refreshed. */
  state: { delay: 60, retryAfter: 60 },
} as const

/** The outcome of one attempt to deliver. */
export type Attempt = {
  /** `retried`: callwatch sends it again. `dropped`: the receiver refused it permanently. */
  outcome: 'sent' | 'retried' | 'dropped'
  /** Why the attempt failed. */
  problem?: string
  /** A bug that made the attempt fail. */
  error?: unknown
}

export type Attempts = ReturnType<typeof attemptsOn>

/**
 * The attempts to deliver to one receiver. After failures it pauses longer and longer, or for as long as the receiver
 * requests.
 *
 * @param of what is delivered: a message that the receiver refuses is dropped; a state is sent again later, as it is then
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
        // The receiver would refuse the same state again at once.
        if (!retryable && of === 'state') pausedUntil = clock.monotonic() + longest.delay
        return { outcome: retryable || of === 'state' ? 'retried' : 'dropped', problem, mayHaveArrived }
      }
    },
  }
}

/** Since when nothing could be delivered to a receiver (UNIX seconds by the host's clock), and why the last attempt failed. */
type Failure = { since: number; problem: string }

/** Which receivers nothing can be delivered to, as this daemon has seen it. */
export type Failures = {
  note: (delivery: Attempt & { receiver: string }) => void
  of: (receiver: string) => Failure | undefined
  /** Call it when other receivers are configured. */
  clear: () => void
}

/** @param mask removes secrets */
export function deliveryFailures({ wall }: Pick<Clock, 'wall'>, mask: (text: string) => string): Failures {
  const failures = new Map<string, Failure>()
  return {
    note: ({ receiver, outcome, problem = '' }) => {
      if (outcome === 'sent') failures.delete(receiver)
      else failures.set(receiver, { since: failures.get(receiver)?.since ?? wall(), problem: mask(problem) })
    },
    of: (receiver) => failures.get(receiver),
    clear: () => failures.clear(),
  }
}
