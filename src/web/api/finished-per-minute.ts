import * as z from 'zod'
import { countByStatus } from '../../ledger/finished-calls.ts'
import type { SyncState, LedgerState } from '../../ledger/state.ts'
import type { TargetStatus } from '../../pipeline/target.ts'
import type { Store } from '../../store/store.ts'
import { isoTime } from '../../clock/times.ts'
import type { OtherTarget } from './overview.ts'
import { byOutcome, count, namedObject, time } from './parts.ts'
import { route } from './route.ts'
import { serviceNow } from './target-view.ts'

const MINUTE = 60
/** How many minutes there are without a parameter. */
const DEFAULT_MINUTES = 60
/** Memory holds finished calls for a day, the longest exported window. */
const MAX_MINUTES = 1440
const MINUTES = `must be a whole number from 1 to ${MAX_MINUTES}`

const parameters = z.strictObject({
  minutes: z
    .string()
    .regex(/^\d{1,4}$/, MINUTES)
    .transform(Number)
    .refine((minutes) => minutes >= 1 && minutes <= MAX_MINUTES, MINUTES)
    .default(DEFAULT_MINUTES)
    .describe('How many minutes, up to now'),
})

const perMinute = z.array(count.nullable().describe('Null where it is not known yet'))
/** How many calls finished in each minute, by final status, oldest first. */
const counts = byOutcome(() => perMinute)
type Counts = Record<keyof typeof counts, z.output<typeof perMinute>>

const answer = namedObject('FinishedPerMinute', {
  since: time,
  step_seconds: count,
  targets: z.array(z.object({ name: z.string(), ...counts })),
})

/** The finished calls of each of the last minutes, by target and status. */
export type FinishedPerMinute = z.output<typeof answer>

export type PerMinuteSource = {
  targets: {
    all: () => readonly string[]
    own: () => readonly TargetStatus[]
    others: () => readonly Pick<OtherTarget, 'name' | 'at' | 'lastSuccess' | 'serviceNow'>[]
  }
  store: Pick<Store, 'finishedPerMinute'>
  wall: () => number
}

/** How many calls finished in each of the last `minutes` minutes, by target and status. */
export const finishedPerMinuteRoute = route(
  'GET /api/v1/finished-per-minute',
  'Finished calls by minute and outcome',
  {
    checks: { querystring: parameters },
    answers: { 200: answer },
  },
  (source: PerMinuteSource) =>
    async ({ query }) =>
      finishedPerMinute(source, query.minutes),
)

export async function finishedPerMinute(
  { targets, store, wall }: PerMinuteSource,
  minutes = DEFAULT_MINUTES,
): Promise<FinishedPerMinute> {
  const [own, others] = [targets.own(), targets.others()]
  // All targets have the same minutes, so that clients can add them up.
  const nows = [...own.map(serviceNow), ...others.map(({ at, serviceNow: now }) => now + Math.max(0, wall() - at))]
  // A daemon that has just started may not know any target yet.
  const now = nows.length === 0 ? wall() : nows.reduce((a, b) => Math.max(a, b))
  const first = (Math.floor(now / MINUTE) - minutes + 1) * MINUTE
  const counts = new Map(own.map(({ name, ledger }) => [name, countsOf(ledger, first, minutes)]))
  for (const [name, found] of await countsElsewhere(store, others, first, minutes)) counts.set(name, found)
  return {
    since: isoTime(first),
    step_seconds: MINUTE,
    targets: targets.all().flatMap((name) => {
      const found = counts.get(name)
      return found === undefined ? [] : [{ name, ...found }]
    }),
  }
}

/** The same as {@link countsOf} of targets that other daemons own. */
async function countsElsewhere(
  store: PerMinuteSource['store'],
  others: readonly { name: string; lastSuccess?: number | undefined }[],
  first: number,
  minutes: number,
): Promise<Map<string, Counts>> {
  if (others.length === 0) return new Map()
  const counts = new Map(
    others.map(({ name, lastSuccess = -Infinity }) => {
      const none = () => Array.from({ length: minutes }, (_, i) => (first + i * MINUTE > lastSuccess ? null : 0))
      return [name, byOutcome(none)]
    }),
  )
  for (const { target, minute, status, n } of await store.finishedPerMinute([...counts.keys()], first, minutes)) {
    const of = counts.get(target)?.[status]
    if (of?.[minute] !== undefined && of[minute] !== null) of[minute] += n
  }
  return counts
}

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
  const counts = byOutcome((status) => tallies.map((tally) => tally?.[status] ?? null))
  cache.set(sync, { key, counts })
  return counts
}

/** Each commit makes a new sync state, and nothing else changes the counts. */
const cache = new WeakMap<SyncState, { key: string; counts: Counts }>()
