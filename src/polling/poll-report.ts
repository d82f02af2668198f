import type { RequestRecord } from './attempt.ts'
import type { ListMemory } from './list-memory.ts'
import type { Poll } from './poll.ts'

/** How a poll went, whether or not anything of it was committed. */
export type PollReport = {
  outcome: 'complete' | 'incremental' | 'partial' | 'failed'
  /** Whether it was successful: complete, incremental, or limited only by the service's refusal of deep pages. */
  good: boolean
  seconds: number
  requests: RequestRecord[]
  /** Requests left in the service's own limit, as it last said. */
  remaining: number | undefined
  /** What went wrong, in a sentence. */
  problem: string | undefined
  /** Nothing went wrong, but the list is longer than a poll reads. */
  isReading?: boolean
  /** What went wrong came from the store, not from the service. */
  storeFailed: boolean
  /** The first page of the list that the service refuses to show, where it does. */
  refusedFrom?: number
  /** Where the list is too long to be read as often as it should be: its pages, and what reading them takes (seconds). */
  slowSweep?: { pages: number; seconds: number }
}

/** What a poll has come to. */
type Ended = {
  poll: Poll
  memory: ListMemory
  /** Seconds. */
  settings: { interval: number; sweepInterval: number }
  /** So many pages of a sweep are read in a poll. */
  slice: number
  storeProblem: Error | undefined
}

export function reportOf(
  { poll, memory, settings, slice, storeProblem }: Ended,
  measured: Pick<PollReport, 'seconds' | 'requests' | 'remaining'>,
): PollReport {
  const storeFailed = storeProblem !== undefined
  const good = poll.end !== undefined && !storeFailed
  const trouble = storeProblem?.message ?? poll.problem?.message
  const reading = good || trouble !== undefined ? undefined : underWay(memory)
  return {
    ...measured,
    outcome: storeFailed ? 'failed' : outcomeOf(poll),
    good,
    problem: trouble ?? reading,
    storeFailed,
    ...(reading !== undefined && { isReading: true }),
    ...(memory.refusedFrom !== undefined && { refusedFrom: memory.refusedFrom }),
    ...slowSweepOf(memory, slice, settings),
  }
}

function outcomeOf({ pages, end, limited }: Poll): PollReport['outcome'] {
  if (pages === 0) return 'failed'
  if (end === undefined || limited) return 'partial'
  return end.complete ? 'complete' : 'incremental'
}

/** Set where a sweep, at `slice` pages a poll, takes longer than the time in which one is due. */
function slowSweepOf(
  { sweepPages: pages }: ListMemory,
  slice: number,
  { interval, sweepInterval }: Ended['settings'],
): Pick<PollReport, 'slowSweep'> {
  const seconds = Math.ceil(pages / slice) * interval
  return seconds > sweepInterval ? { slowSweep: { pages, seconds } } : {}
}

/** How far the sweep is that the next poll continues. */
function underWay({ main: sweep }: ListMemory): string | undefined {
  if (sweep === undefined) return undefined
  return `the whole list is being read: ${sweep.done} of ${sweep.lastPage ?? 'an unknown number of'} pages so far`
}
