import type { Clock } from '../../clock/clock.ts'
import type { Attempt } from './attempts.ts'

/** Since when nothing could be delivered to a receiver (UNIX seconds by the host's clock), and why the last attempt failed. */
export type Failure = { since: number; problem: string }

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
