import type { RequestRecord } from './request-with-retries.ts'
import type { ListMemory } from './list/list-state.ts'
import { formatSlow } from '../text/format.ts'
import type { RunningPoll } from './poll.ts'

/** The result of a poll, even if none of it was committed. */
export type PollReport = {
  outcome: 'complete' | 'incremental' | 'partial' | 'failed'
  /** Whether it missed no new call: it is complete, incremental, or partial only because the service refuses deep pages. */
  successful: boolean
  seconds: number
  requests: RequestRecord[]
  /** How many requests the service's own limit still allows, according to its last answer. */
  remaining: number | undefined
  /** What failed, in a sentence. */
  problem: string | undefined
  /** How the requests of single calls went; absent if there were none. */
  singleCalls?: SingleCalls
  /** Where the problem is: in the service, in the store, in a list that is too long for one poll, or in callwatch (a bug). */
  fault?: 'service' | 'store' | 'list' | 'bug'
  /** The first page of the list that the service refuses to show. */
  refusedFrom?: number
  /** Set if the list is too long for the sweep interval: its pages, and how long a sweep takes (seconds). */
  slowSweep?: { pages: number; seconds: number; polls: number }
  /** How long an answer took (seconds), if the service is slow. */
  slowAnswers?: number | undefined
  /** A time of a call that has none which can be read, as the service sent it. */
  unreadTime?: string | undefined
}

/** How many single calls were answered, also by that the service does not know them, and why another request failed. */
export type SingleCalls = { answered: number; problem: string | undefined }

type EndedPoll = {
  poll: RunningPoll
  memory: ListMemory
  /** Seconds. */
  settings: { interval: number; sweepInterval: number }
  /** Pages of a sweep that one poll reads. */
  slice: number
  storeProblem: Error | undefined
}

export function reportOf(
  { poll, memory, settings, slice, storeProblem }: EndedPoll,
  measured: Pick<PollReport, 'seconds' | 'requests' | 'remaining'>,
): PollReport {
  const storeFailed = storeProblem !== undefined
  const successful = poll.success !== undefined && !storeFailed
  const slowAnswers = slowAnswersOf(measured.requests)
  return {
    ...measured,
    outcome: storeFailed ? 'failed' : outcomeOf(poll),
    successful,
    ...faultOf(storeProblem, poll.problem, successful ? undefined : catchUpProgress(memory, slowAnswers)),
    ...(poll.singleCalls && { singleCalls: poll.singleCalls }),
    ...(memory.depth.refusedFrom !== undefined && { refusedFrom: memory.depth.refusedFrom }),
    ...slowSweepOf(memory, slice, settings),
    slowAnswers,
  }
}

function faultOf(
  store: Error | undefined,
  service: Error | undefined,
  progress: string | undefined,
): Pick<PollReport, 'problem' | 'fault'> {
  if (store !== undefined) return { problem: store.message, fault: 'store' }
  if (service !== undefined) return { problem: service.message, fault: 'service' }
  return { problem: progress, ...(progress !== undefined && { fault: 'list' }) }
}

function outcomeOf({ pages, success }: RunningPoll): PollReport['outcome'] {
  if (pages === 0) return 'failed'
  if (success === undefined || success.limited === true) return 'partial'
  return success.endsSweep ? 'complete' : 'incremental'
}

function slowSweepOf(
  { sweep: { last } }: ListMemory,
  slice: number,
  { interval, sweepInterval }: EndedPoll['settings'],
): Pick<PollReport, 'slowSweep'> {
  const pages = last?.pages ?? 0
  const polls = Math.ceil(pages / slice)
  const seconds = polls * interval
  return seconds > sweepInterval ? { slowSweep: { pages, seconds, polls } } : {}
}

/** From so many seconds an answer on, a report says that the service is slow. */
const SLOW_SECONDS = 2

function slowAnswersOf(requests: readonly RequestRecord[]): number | undefined {
  const each = requests.reduce((sum, { seconds }) => sum + seconds, 0) / requests.length
  return each >= SLOW_SECONDS ? each : undefined
}

/** The progress of the reading that the next poll continues. */
function catchUpProgress({ catchUp: reading }: ListMemory, slowAnswers: number | undefined): string | undefined {
  if (reading === undefined) return undefined
  const { read, last = 'an unknown number of' } = reading.pages
  const slow = slowAnswers === undefined ? '' : `; ${formatSlow(slowAnswers)}`
  return `the list is being read: ${read} of ${last} pages so far${slow}`
}
