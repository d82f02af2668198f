import * as z from 'zod'
import type { Ownership } from '../cluster/ownership.ts'

/** How a target's latest cycle went. */
export type CycleHealth = {
  good: boolean
  problem: string | undefined
  /** The problem is only that the whole list was not read yet. */
  isReading?: boolean
  requests: number
  storeFailed: boolean
  /** The first page of the list that the service refuses to show, where it does. */
  refusedFrom?: number
  /** Where the list is too long to be read as often as it should be: its pages, and what reading them takes (seconds). */
  slowSweep?: { pages: number; seconds: number }
}

/** How a target has been doing since the process started. */
export type TargetHealth = {
  note: (cycle: CycleHealth) => void
  /** Whether the last look was good. */
  up: () => boolean
  /** What went wrong in the last cycle. */
  problem: () => string | undefined
  isReading: () => boolean
  storeFailed: () => boolean
  refusedFrom: () => number | undefined
  slowSweep: () => CycleHealth['slowSweep']
  requestsLastMinute: () => number
}

/** @param monotonic seconds */
export function targetHealth(monotonic: () => number): TargetHealth {
  let last: CycleHealth | undefined
  let cycles: { at: number; requests: number }[] = []
  return {
    note: (cycle) => {
      last = cycle
      const at = monotonic()
      cycles = [...cycles.filter((past) => at - past.at <= 60), { at, requests: cycle.requests }]
    },
    up: () => last?.good ?? false,
    problem: () => last?.problem,
    isReading: () => last?.isReading ?? false,
    storeFailed: () => last?.storeFailed ?? false,
    refusedFrom: () => last?.refusedFrom,
    slowSweep: () => last?.slowSweep,
    requestsLastMinute: () => {
      const now = monotonic()
      return cycles.reduce((sum, { at, requests }) => (now - at <= 60 ? sum + requests : sum), 0)
    },
  }
}

/** What the owner of a target tells the other daemons of it. */
const noted = z.object({ up: z.boolean(), problem: z.string().optional(), requests: z.number() })
export type NotedHealth = z.output<typeof noted>

export function healthNote({ up, problem, requestsLastMinute }: TargetHealth): NotedHealth {
  return { up: up(), problem: problem(), requests: requestsLastMinute() }
}

/** How a target is doing: as this daemon knows while it is its own, else as its owner tells. */
export function ownOrNotedHealth(
  own: TargetHealth,
  target: string,
  { owns, ownerOf, noteOf, problem: trouble }: Pick<Ownership, 'owns' | 'ownerOf' | 'noteOf' | 'problem'>,
): TargetHealth {
  const note = () => noted.safeParse(noteOf(target)).data
  const unowned = () => trouble() ?? 'no daemon watches it at the moment'
  const problem = () => (ownerOf(target) === undefined ? unowned() : note()?.problem)
  const of =
    <T>(ask: () => T, other: () => T) =>
    () =>
      owns(target) ? ask() : other()
  return {
    note: own.note,
    up: of(own.up, () => note()?.up ?? false),
    problem: of(own.problem, problem),
    isReading: of(own.isReading, () => false),
    storeFailed: of(own.storeFailed, () => false),
    refusedFrom: of(own.refusedFrom, () => undefined),
    slowSweep: of(own.slowSweep, () => undefined),
    requestsLastMinute: of(own.requestsLastMinute, () => note()?.requests ?? 0),
  }
}
