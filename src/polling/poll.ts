import type { PollEnd } from '../ledger/observation.ts'
import type { ServiceError } from '../service/service-error.ts'

/** What one poll has come to. Changed in place while it runs. */
export type Poll = {
  /** The service's clock and the host's at the latest answer (UNIX seconds). */
  now: number
  host: number
  /** Pages that were read. */
  pages: number
  /** Ids of open calls that were listed; where there is none, of any call. */
  readonly listed: Set<string>
  /** When the calls of the oldest page began on which a successful poll depends, half of them later (UNIX seconds). */
  oldest: number
  /** How many items the list has; undefined where neither a total nor a reading to its end has shown it. */
  size: number | undefined
  /** How it ended; undefined for one that is not successful. */
  end: PollEnd | undefined
  /** What was seen is all that the service shows, though not all there is. */
  limited: boolean
  /** Why it is not successful. */
  problem: ServiceError | undefined
}

export function newPoll(): Poll {
  return {
    now: 0,
    host: 0,
    pages: 0,
    listed: new Set(),
    oldest: Infinity,
    size: undefined,
    end: undefined,
    limited: false,
    problem: undefined,
  }
}
