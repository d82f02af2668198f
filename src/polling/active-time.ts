import { EMPTY, expand, filter, take, timer, type Observable } from 'rxjs'
import type { Clock } from '../clock/clock.ts'
import type { RateBudget } from './rate-budget.ts'

/** The time of a poll without that in which it waited for its turn under the rate limit (seconds). */
export type ActiveTime = {
  /** The budget whose waits do not count. */
  budget: RateBudget
  passed: () => number
  /** Emits once when so much has passed, or so much has passed by the clock and the service asked to wait for longer still. */
  after$: (seconds: number) => Observable<unknown>
}

/** A timer may fire a little early (seconds). */
const TOLERANCE = 1e-6

export function activeTime(budget: RateBudget, clock: Clock): ActiveTime {
  const begun = clock.monotonic()
  let waited = 0
  let waiting = 0
  let waitingSince = 0
  const waitedUntilNow = () => waited + (waiting === 0 ? 0 : clock.monotonic() - waitingSince)
  const passed = () => clock.monotonic() - begun - waitedUntilNow()
  return {
    budget: {
      ...budget,
      take: async (signal) => {
        if (waiting === 0) waitingSince = clock.monotonic()
        waiting += 1
        try {
          await budget.take(signal)
        } finally {
          waiting -= 1
          if (waiting === 0) waited += clock.monotonic() - waitingSince
        }
      },
    },
    passed,
    after$: (seconds) => {
      const left = () => seconds - passed()
      const isOver = () => left() <= TOLERANCE || budget.heldFor() > seconds
      return timer(left() * 1000, clock.scheduler).pipe(
        // While it waits no time passes, and it is looked at again no later than it could be over.
        expand(() => (isOver() ? EMPTY : timer(left() * 1000, clock.scheduler))),
        filter(isOver),
        take(1),
      )
    },
  }
}
