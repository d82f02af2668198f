import type { PollSuccess } from '../ledger/observation.ts'
import type { ServiceError } from '../service/service-error.ts'
import type { CallPage } from '../service/calls-client.ts'
import type { Ended } from './list/read-pages.ts'
import type { Reading } from './list/reading.ts'

/** What a running poll has seen so far. Changed in place. */
export type RunningPoll = {
  /** The service's clock and the host's at the latest answer (UNIX seconds). */
  serviceTime: number
  hostTime: number
  /** Number of pages that were read, and the last one. */
  pages: number
  lastPage: CallPage | undefined
  /** Ids of the open calls that were listed, and of the first call. */
  readonly listed: Set<string>
  /** The reading that ended without joining what was known, and what it reached. */
  ended: { reading: Reading; at: Ended['at'] } | undefined
  /** Undefined for a poll that is not successful. */
  success: PollSuccess | undefined
  /** The service does not show the rest of the list. */
  limited: boolean
  /** Why it is not successful. */
  problem: ServiceError | undefined
}

export function newPoll(): RunningPoll {
  return {
    serviceTime: 0,
    hostTime: 0,
    pages: 0,
    lastPage: undefined,
    listed: new Set(),
    ended: undefined,
    success: undefined,
    limited: false,
    problem: undefined,
  }
}
