import type { PollEnd } from '../ledger/observation.ts'
import type { ServiceError } from '../service/service-error.ts'

/** What a running poll has seen so far. Changed in place. */
export type Poll = {
  /** The service's clock and the host's at the latest answer (UNIX seconds). */
  now: number
  host: number
  /** Number of pages that were read. */
  pages: number
  /** Ids of the open calls that were listed, and of the first call. */
  readonly listed: Set<string>
  /** The oldest median start of the pages that a successful poll needed (UNIX seconds). */
  oldest: number
  /** Ids that a successful poll listed as invalid items only. */
  invalidKeys: ReadonlySet<string>
  /** Number of items in the list; undefined if neither a total nor a sweep to its end has shown it. */
  size: number | undefined
  /** Its end; undefined for a poll that is not successful. */
  end: PollEnd | undefined
  /** The service refuses to show the rest of the list. */
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
    invalidKeys: new Set(),
    size: undefined,
    end: undefined,
    limited: false,
    problem: undefined,
  }
}
