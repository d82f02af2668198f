import type { FastifyInstance } from 'fastify'
import * as z from 'zod'
import { finishedPerMinute } from './finished-per-minute.ts'
import { queryProblem } from './query-problem.ts'
import { isoTime, serviceNow, type WatchedTarget } from './views.ts'

const MINUTE = 60
/** Finished calls are kept in memory for a day, the longest exported window. */
const MOST_MINUTES = 1440
const MINUTES = `must be a whole number from 1 to ${MOST_MINUTES}`

const query = z.strictObject({
  minutes: z
    .string()
    .regex(/^\d{1,4}$/, MINUTES)
    .transform(Number)
    .refine((minutes) => minutes >= 1 && minutes <= MOST_MINUTES, MINUTES)
    .default(60),
})

/** The minutes up to now, and how each target's calls finished in them. */
export type FinishedView = ReturnType<typeof finishedView>

/** `GET /api/v1/finished-per-minute`: how many calls finished in each of the last `minutes` minutes, by target and status. */
export function finishedRoute(app: FastifyInstance, targets: readonly WatchedTarget[]): void {
  app.get('/api/v1/finished-per-minute', async (request, reply) => {
    const parsed = query.safeParse(request.query)
    if (!parsed.success) return reply.code(400).send({ error: queryProblem(parsed.error, Object.keys(query.shape)) })
    return finishedView(targets, parsed.data.minutes)
  })
}

function finishedView(targets: readonly WatchedTarget[], minutes: number) {
  // All targets have the same minutes, so that they can be added up.
  const now = Math.max(...targets.map(serviceNow))
  const first = (Math.floor(now / MINUTE) - minutes + 1) * MINUTE
  return {
    since: isoTime(first),
    step_seconds: MINUTE,
    targets: targets.map(({ target, ledger }) => ({ name: target, ...finishedPerMinute(ledger, first, minutes) })),
  }
}
