import type { FastifyInstance } from 'fastify'
import * as z from 'zod'
import type { FinalStatus } from '../ledger/call.ts'
import { countByStatus } from '../ledger/finished-calls.ts'
import type { SyncState, LedgerState } from '../ledger/state.ts'
import type { ShownTarget } from '../target/target.ts'
import { readQuery } from './query.ts'
import { serviceNow } from './target-view.ts'
import { isoTime } from './views.ts'

const MINUTE = 60
/** Memory holds finished calls for a day, the longest exported window. */
const MAX_MINUTES = 1440
const MINUTES = `must be a whole number from 1 to ${MAX_MINUTES}`

const parameters = z.strictObject({
  minutes: z
    .string()
    .regex(/^\d{1,4}$/, MINUTES)
    .transform(Number)
    .refine((minutes) => minutes >= 1 && minutes <= MAX_MINUTES, MINUTES)
    .default(60),
})

/** The finished calls of each of the last minutes, by target and status. */
export type FinishedPerMinute = ReturnType<typeof finishedPerMinute>

/** `GET /api/v1/finished-per-minute`: how many calls finished in each of the last `minutes` minutes, by target and status. */
export function finishedPerMinuteRoute(app: FastifyInstance, targets: () => readonly ShownTarget[]): void {
  app.get('/api/v1/finished-per-minute', async ({ query }) =>
    finishedPerMinute(targets(), readQuery(parameters, query).minutes),
  )
}

function finishedPerMinute(targets: readonly ShownTarget[], minutes: number) {
  // All targets have the same minutes, so that clients can add them up.
  const now = Math.max(...targets.map(serviceNow))
  const first = (Math.floor(now / MINUTE) - minutes + 1) * MINUTE
  return {
    since: isoTime(first),
    step_seconds: MINUTE,
    targets: targets.map(({ name, ledger }) => ({ name, ...countsOf(ledger, first, minutes) })),
  }
}

/** By final status, how many calls finished in each minute, oldest first; null where it is not known yet. */
type Counts = Record<FinalStatus, (number | null)[]>

/**
 * Counts finished calls by the minute in which they finished (UTC, by the service's clock). The minute of the last
 * successful poll is incomplete, and later ones are not known.
 *
 * @param first the first minute (UNIX seconds, a multiple of 60)
 * @param minutes how many minutes
 */
function countsOf({ sync, finished }: Pick<LedgerState, 'finished' | 'sync'>, first: number, minutes: number): Counts {
  const key = `${first}|${minutes}`
  const cached = cache.get(sync)
  if (cached?.key === key) return cached.counts
  const until = sync.lastSuccess ?? -Infinity
  const tallies = Array.from({ length: minutes }, (_, i) => {
    const from = first + i * MINUTE
    return from > until ? undefined : countByStatus(finished.tallyOfMinute(from))
  })
  const of = (status: FinalStatus) => tallies.map((tally) => tally?.[status] ?? null)
  const counts = {
    ended: of('ended'),
    unanswered: of('unanswered'),
    rejected: of('rejected'),
    canceled: of('canceled'),
    other: of('other'),
  }
  cache.set(sync, { key, counts })
  return counts
}

/** Each commit makes a new sync state, and nothing else changes the counts. */
const cache = new WeakMap<SyncState, { key: string; counts: Counts }>()
