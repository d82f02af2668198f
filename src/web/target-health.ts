import * as z from 'zod'
import type { Ownership } from '../cluster/ownership.ts'

/** How a target's latest cycle went. */
export type CycleHealth = {
  good: boolean
  problem: string | undefined
  /** The problem is only that the whole list was not read yet. */
  isReading?: boolean
  requests: number
  /** Whether the service showed at least one page of its list. */
  hasPage: boolean
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
  /** Whether the last cycle brought a page of the list; true as well until one has ended. */
  hasPage: () => boolean
  /** For how long the target has been polled (seconds): since its first cycle ended, or since the start until then. */
  polledFor: () => number
  storeFailed: () => boolean
  refusedFrom: () => number | undefined
  slowSweep: () => CycleHealth['slowSweep']
  requestsLastMinute: () => number
  /** Seconds between the ends of the last two cycles; undefined before. */
  effectiveInterval: () => number | undefined
}

/** @param monotonic seconds */
export function targetHealth(monotonic: () => number): TargetHealth {
  let last: CycleHealth | undefined
  let cycles: { at: number; requests: number }[] = []
  let polledSince = monotonic()
  let endedAt: number | undefined
  let effectiveInterval: number | undefined
  return {
    note: (cycle) => {
      const at = monotonic()
      if (last === undefined) polledSince = at
      effectiveInterval = endedAt && at - endedAt
      endedAt = at
      last = cycle
      cycles = [...cycles.filter((past) => at - past.at <= 60), { at, requests: cycle.requests }]
    },
    up: () => last?.good ?? false,
    problem: () => last?.problem,
    isReading: () => last?.isReading ?? false,
    hasPage: () => last?.hasPage ?? true,
    polledFor: () => monotonic() - polledSince,
    storeFailed: () => last?.storeFailed ?? false,
    refusedFrom: () => last?.refusedFrom,
    slowSweep: () => last?.slowSweep,
    effectiveInterval: () => effectiveInterval,
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
    hasPage: of(own.hasPage, () => true),
    polledFor: own.polledFor,
    storeFailed: of(own.storeFailed, () => false),
    refusedFrom: of(own.refusedFrom, () => undefined),
    slowSweep: of(own.slowSweep, () => undefined),
    effectiveInterval: of(own.effectiveInterval, () => undefined),
    requestsLastMinute: of(own.requestsLastMinute, () => note()?.requests ?? 0),
  }
}
