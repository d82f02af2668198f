import type { FastifyInstance } from 'fastify'
import * as z from 'zod'
import { SEVERITIES } from '../../alerts/match-keys.ts'
import { alertHistory } from '../../history/alert-history.ts'
import { api, type RouteDescription } from './route.ts'
import { concurrencyLimit } from '../concurrency-limit.ts'
import { known, period, periodOf } from './period-parameters.ts'
import type { ReportRouteOptions } from './report.ts'

const parameters = z.strictObject({
  ...period,
  alert: z.string().optional().describe('Name of a rule'),
  severity: z.enum(SEVERITIES, `must be one of ${SEVERITIES.join(', ')}`).optional(),
})

/** A response has up to a thousand alerts, each with its values. */
const MAX_AT_A_TIME = 2

/** `GET /api/v1/alerts/history`: the alerts that fired in a period, those that still fire included, newest first. */
export function alertHistoryRoute(app: FastifyInstance, { store, wall, targets }: ReportRouteOptions): void {
  const limit = concurrencyLimit(MAX_AT_A_TIME)
  const config: RouteDescription = {
    summary: 'Alerts that fired in a period, those that still fire included, newest first',
    answers: { 200: 'AlertHistory' },
  }
  const options = { schema: { querystring: parameters }, config, exposeHeadRoute: false }
  api(app).get('/api/v1/alerts/history', options, async ({ query }, reply) => {
    if (limit.admits(reply) === undefined) return reply
    const now = wall()
    const { from, to = Infinity } = periodOf(query, now)
    const asked = { from, to, targets: query.target, alert: query.alert, severity: query.severity }
    return known(alertHistory(store, asked, { configured: targets.all(), now }))
  })
}
