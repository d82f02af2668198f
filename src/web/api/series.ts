import * as z from 'zod'
import { coverageOf, serviceNow } from '../../history/coverage.ts'
import { seriesOf, STEPS } from '../../history/series.ts'
import { coverageView, expectTargets } from '../../history/usage.ts'
import type { WebOptions } from '../server.ts'
import { count, namedObject, percentiles, sums, time } from './parts.ts'
import { abortedBy, callLabels, period, periodOf } from './parameters.ts'
import { coverage } from './report.ts'
import { route } from './route.ts'

const parameters = z.strictObject({
  ...period,
  ...callLabels,
  step: z
    .enum(STEPS.map(String), `must be one of ${STEPS.join(', ')}`)
    .transform((text) => STEPS.find((step) => String(step) === text)!)
    .optional()
    .describe('Seconds from one point to the next; default: so that there are at most 300'),
})

const point = z.object({
  at: time.describe('When the step began'),
  ...sums,
  answer_delay_seconds: percentiles,
  in_progress: count.nullable().describe('When the step began; null where it is not known'),
})

const answer = namedObject('Series', {
  since: time,
  until: time,
  step_seconds: count,
  points: z.array(point),
  coverage,
})

/** A series, and when its targets were not seen. */
export type SeriesView = z.output<typeof answer>

/** The calls that finished in each step of a period, and how many were in progress. */
export const seriesRoute = route(
  'GET /api/v1/series',
  'Calls by outcome, minutes, percentiles and calls in progress, as points over time',
  {
    checks: { querystring: parameters },
    answers: { 200: answer },
    // Each loads the store; a page needs two.
    atATime: 4,
  },
  ({ store, wall, targets }: WebOptions) =>
    async ({ query }, reply) => {
      const { target, type, mode, receiver_type: receiverType, step } = query
      const [now, all] = [wall(), targets.all()]
      const { from, to } = periodOf(query, await serviceNow(store, target, now))
      await expectTargets(store, target ?? [], all)
      const wanted = { from, to, targets: target, type, mode, receiverType, step, aborted: abortedBy(reply) }
      const series = await seriesOf(store, wanted, now)
      const shown = { from: Date.parse(series.since) / 1000, to: Date.parse(series.until) / 1000 }
      return {
        ...series,
        coverage: coverageView(await coverageOf(store, shown, { targets: target, configured: all, now })),
      }
    },
)
