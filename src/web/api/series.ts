import type { FastifyInstance } from 'fastify'
import * as z from 'zod'
import { coverageOf } from '../../history/coverage.ts'
import { seriesOf, STEPS, type Series } from '../../history/series.ts'
import { coverageView, expectTargets, type CoverageView } from '../../history/usage-report.ts'
import { MODES, RECEIVER_TYPES, TYPES } from '../../ledger/call.ts'
import { api, type RouteDescription } from './route.ts'
import { concurrencyLimit } from '../concurrency-limit.ts'
import { known, period, periodOf } from './period-parameters.ts'
import type { ReportRouteOptions } from './report.ts'

const oneOf = <const Values extends readonly string[]>(values: Values) =>
  z.enum(values, `must be one of ${values.join(', ')}`).optional()

const parameters = z.strictObject({
  ...period,
  type: oneOf(TYPES),
  mode: oneOf(MODES),
  receiver_type: oneOf(RECEIVER_TYPES),
  step: z
    .enum(STEPS.map(String), `must be one of ${STEPS.join(', ')}`)
    .transform((text) => STEPS.find((step) => String(step) === text)!)
    .optional()
    .describe('Seconds from one point to the next; default: so that there are at most 300'),
})

/** Each takes some time of the store; a page has two. */
const MAX_SERIES_AT_A_TIME = 4

/** A series, and when its targets were not seen. */
export type SeriesView = Series & { coverage: CoverageView }

/** `GET /api/v1/series`: what finished in each step of a period, and how many calls were in progress. */
export function seriesRoute(app: FastifyInstance, { store, wall, targets }: ReportRouteOptions): void {
  const limit = concurrencyLimit(MAX_SERIES_AT_A_TIME)
  const config: RouteDescription = {
    summary: 'Calls by outcome, minutes, percentiles and calls in progress, as points over time',
    answers: { 200: 'Series' },
  }
  const options = { schema: { querystring: parameters }, config, exposeHeadRoute: false }
  api(app).get('/api/v1/series', options, async ({ query }, reply): Promise<SeriesView | typeof reply> => {
    if (limit.admits(reply) === undefined) return reply
    const { target, type, mode, receiver_type: receiverType, step } = query
    const [now, all, aborting] = [wall(), targets.all(), new AbortController()]
    reply.raw.once('close', () => aborting.abort())
    const { from, to } = periodOf(query, now)
    await known(expectTargets(store, target ?? [], all))
    const wanted = { from, to, targets: target, type, mode, receiverType, step, aborted: aborting.signal }
    const series = await known(seriesOf(store, wanted, now))
    const shown = { from: Date.parse(series.since) / 1000, to: Date.parse(series.until) / 1000 }
    const coverage = await coverageOf(store, shown, { targets: target, configured: all, now })
    return { ...series, coverage: coverageView(coverage) }
  })
}
