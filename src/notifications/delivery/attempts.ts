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

/** The subject that stands for all that is delivered to a receiver. */
const EVERYTHING = ''

/** The outcome of one attempt to deliver. */
export type Attempt = {
  /** `retried`: callwatch sends it again. `dropped`: the receiver refused it permanently, and it is not sent again. */
  outcome: 'sent' | 'retried' | 'dropped'
  /** Why the attempt failed. */
  problem?: string
  /** A bug that made the attempt fail. */
  error?: unknown
}

export type Attempts = ReturnType<typeof attemptsOn>

/**
 * The attempts to deliver to one receiver. After failures it pauses longer and longer, or for as long as the receiver
 * requests. What the receiver refuses pauses for the longest delay; other messages do not, since they may be accepted.
 *
 * @param of what is delivered
 */
export function attemptsOn(clock: Clock, of: 'message' | 'state' = 'message') {
  const longest = LONGEST[of]
  let failures = 0
  /** By subject, the end of its pause (monotonic seconds). */
  const pauses = new Map<string, number>()

  const isPausedFor = (subject: string) => clock.monotonic() < (pauses.get(subject) ?? -Infinity)

  function pause(subject: string, seconds: number): void {
    for (const other of pauses.keys()) if (!isPausedFor(other)) pauses.delete(other)
    pauses.set(subject, clock.monotonic() + seconds)
  }

  function failed(retryAfter?: number): void {
    failures += 1
    const delay = retryAfter ?? Math.min(longest.delay, FIRST_DELAY_SECONDS * 2 ** (failures - 1))
    pause(EVERYTHING, Math.min(delay, longest.retryAfter))
  }

  return {
    /** @param subject as it was given to `attempt` */
    isPaused: (subject = EVERYTHING) => isPausedFor(EVERYTHING) || isPausedFor(subject),
    /**
     * Never rejects. After a bug it is retried as well: no message may be lost for that. What is refused is retried because
     * the receiver may be the cause, such as a webhook that was rotated; it is dropped if some recipients have got it, or by choice.
     *
     * @param subject what pauses if the receiver refuses it, such as the key of a group; default: everything
     * @param drops whether it is dropped if the receiver refuses it; default: no
     */
    attempt: async (
      work: () => Promise<void>,
      { subject = EVERYTHING, drops = false }: { subject?: string; drops?: boolean } = {},
    ): Promise<Attempt & { mayHaveArrived: boolean }> => {
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
        if (!retryable && (drops || (mayHaveArrived && of === 'message')))
          return { outcome: 'dropped', problem, mayHaveArrived }
        if (!retryable) pause(subject, longest.delay)
        return { outcome: 'retried', problem, mayHaveArrived }
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
  /** Call it when another configuration of the receiver becomes active. */
  forget: (receiver: string) => void
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
    forget: (receiver) => void failures.delete(receiver),
  }
}
