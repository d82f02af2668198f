import type { PollSuccess } from '../ledger/observation.ts'
import type { ServiceError } from '../service/service-error.ts'

/** What a running poll has seen so far. Changed in place. */
export type RunningPoll = {
  /** The service's clock and the host's at the latest answer (UNIX seconds). */
  serviceTime: number
  hostTime: number
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
  /** Undefined for a poll that is not successful. */
  success: PollSuccess | undefined
  /** The service refuses to show the rest of the list. */
  limited: boolean
  /** Why it is not successful. */
  problem: ServiceError | undefined
}

export function newPoll(): RunningPoll {
  return {
    serviceTime: 0,
    hostTime: 0,
    pages: 0,
    listed: new Set(),
    oldest: Infinity,
    invalidKeys: new Set(),
    size: undefined,
    success: undefined,
    limited: false,
    problem: undefined,
  }
}
