import type { RequestRecord } from './attempt.ts'
import type { ListMemory } from './list-memory.ts'
import type { Look } from './page-reader.ts'

/** How a cycle went, whether or not anything of it was committed. */
export type CycleReport = {
  outcome: 'complete' | 'incremental' | 'partial' | 'failed'
  /** Whether the look was good: complete, incremental, or limited only by the service's refusal of deep pages. */
  good: boolean
  seconds: number
  requests: RequestRecord[]
  /** Requests left in the service's own limit, as it last said. */
  remaining: number | undefined
  /** What went wrong, in a sentence. */
  problem: string | undefined
  /** Nothing went wrong, but the list is longer than a cycle reads. */
  isReading?: boolean
  /** What went wrong came from the store, not from the service. */
  storeFailed: boolean
  /** The first page of the list that the service refuses to show, where it does. */
  refusedFrom?: number
  /** Where the list is too long to be read as often as it should be: its pages, and what reading them takes (seconds). */
  slowSweep?: { pages: number; seconds: number }
}

/** What a cycle has come to. */
export type CycleEnd = {
  look: Look
  memory: ListMemory
  /** Seconds. */
  poll: { interval: number; sweepInterval: number }
  /** So many pages of a sweep are read in a cycle. */
  slice: number
  storeProblem: Error | undefined
}

export function reportOf(
  { look, memory, poll, slice, storeProblem }: CycleEnd,
  measured: Pick<CycleReport, 'seconds' | 'requests' | 'remaining'>,
): CycleReport {
  const storeFailed = storeProblem !== undefined
  const good = look.end !== undefined && !storeFailed
  const trouble = storeProblem?.message ?? look.problem?.message
  const reading = good || trouble !== undefined ? undefined : underWay(memory)
  return {
    ...measured,
    outcome: storeFailed ? 'failed' : outcomeOf(look),
    good,
    problem: trouble ?? reading,
    storeFailed,
    ...(reading !== undefined && { isReading: true }),
    ...(memory.refusedFrom !== undefined && { refusedFrom: memory.refusedFrom }),
    ...slowSweepOf(memory, slice, poll),
  }
}

function outcomeOf({ pages, end, limited }: Look): CycleReport['outcome'] {
  if (pages === 0) return 'failed'
  if (end === undefined || limited) return 'partial'
  return end.whole ? 'complete' : 'incremental'
}

/** Says so where a whole look, at `slice` pages a cycle, takes longer than the time in which one is due. */
function slowSweepOf(
  { sweepPages: pages }: ListMemory,
  slice: number,
  poll: CycleEnd['poll'],
): Pick<CycleReport, 'slowSweep'> {
  const seconds = Math.ceil(pages / slice) * poll.interval
  return seconds > poll.sweepInterval ? { slowSweep: { pages, seconds } } : {}
}

/** How far the sweep is that the next cycle goes on with. */
function underWay({ main: sweep }: ListMemory): string | undefined {
  if (sweep === undefined) return undefined
  return `the whole list is being read: ${sweep.done} of ${sweep.lastPage ?? 'an unknown number of'} pages so far`
}
