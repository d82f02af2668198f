import type { PollSuccess } from '../ledger/observation.ts'
import type { ServiceError } from '../service/service-error.ts'
import type { CallPage } from '../service/calls-client.ts'
import type { ReadingEnd } from './list/read-pages.ts'
import type { Reading } from './list/reading.ts'
import type { SingleCalls } from './poll-report.ts'

/** What a running poll has seen so far. Changed in place. */
export type RunningPoll = {
  /** The service's clock and the host's clock at the latest answer (UNIX seconds). */
  serviceTime: number
  hostTime: number
  /** The number of pages that were read, and the last page. */
  pages: number
  lastPage?: CallPage
  /** The sessions of listed open calls, and of the first listed call, by the id of the call. */
  readonly listed: Map<string, string>
  /** The reading that ended without joining, and what it reached. */
  ended?: { reading: Reading; at: ReadingEnd['at'] } | undefined
  /** Undefined if the poll is not successful. */
  success: PollSuccess | undefined
  /** Why the poll is not successful. */
  problem?: ServiceError
  /** How the requests of single calls went; absent if there were none. */
  singleCalls?: SingleCalls
}

export function newPoll(): RunningPoll {
  return { serviceTime: 0, hostTime: 0, pages: 0, listed: new Map(), success: undefined }
}
