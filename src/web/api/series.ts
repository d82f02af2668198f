import * as z from 'zod'
import { coverageOf, readServiceNow } from '../../history/coverage.ts'
import { seriesOf, STEPS } from '../../history/series.ts'
import { appsOf } from '../../ledger/session-id.ts'
import { expectTargets } from '../../history/usage.ts'
import { series, seriesView } from '../../views/series.ts'
import type { WebOptions } from '../server.ts'
import { callLabels, period, periodOf } from '../../history/queries/parameters.ts'
import { route } from './route.ts'

const parameters = z.strictObject({
  ...period,
  ...callLabels,
  step: z
    .enum(STEPS.map(String), `must be one of ${STEPS.join(', ')}`)
    .transform((text) => STEPS.find((step) => String(step) === text)!)
    .optional()
    .describe('Seconds from one point to the next; default: 12 to 120 points, each of about 30 calls or more'),
  by: z.enum(['target', 'app']).optional().describe('Also splits the calls by target, or by the app id of the targets'),
})

/** The calls that finished in each step of a period, and how many were in progress. */
export const seriesRoute = route(
  'GET /api/v1/series',
  'Calls by outcome, minutes, percentiles and calls in progress, as points over time',
  {
    checks: { querystring: parameters },
    answers: { 200: series },
    // Each loads the store; a page needs two.
    atATime: 4,
  },
  ({ store, wall, targets, configured }: WebOptions) =>
    async ({ query, signal: aborted }) => {
      const { target, type, mode, receiver_type: receiverType, step, by } = query
      const [now, all] = [wall(), targets.all()]
      const { from, to } = periodOf(query, await readServiceNow(store, target, now))
      await expectTargets(store, target ?? [], all)
      const groupOf = by && (by === 'app' ? appsOf(configured()) : String)
      const selected = { from, to, targets: target, type, mode, receiverType, step, groupOf, aborted }
      const found = await seriesOf(store, selected, now)
      return seriesView(found, await coverageOf(store, found, { targets: target, configured: all, now }))
    },
)
