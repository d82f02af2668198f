import * as z from 'zod'
import { SEVERITIES } from '../../alerts/match-keys.ts'
import { alertHistory } from '../../history/alert-history.ts'
import { alertHistoryAnswer, alertHistoryView } from '../../views/alert.ts'
import { period, periodOf } from '../../history/queries/parameters.ts'
import type { WebOptions } from '../server.ts'
import { route } from './route.ts'

const parameters = z.strictObject({
  ...period,
  alert: z.string().optional().describe('Name of a rule'),
  severity: z.enum(SEVERITIES, `must be one of ${SEVERITIES.join(', ')}`).optional(),
})

/** The alerts that fired in a period, those that still fire included, newest first. */
export const alertsRoute = route(
  'GET /api/v1/alerts',
  'Alerts that fired in a period, those that still fire included, newest first',
  {
    checks: { querystring: parameters },
    answers: { 200: alertHistoryAnswer },
    // A response has up to a thousand alerts, each with its values.
    atATime: 2,
  },
  ({ store, wall, targets }: WebOptions) =>
    async ({ query }) => {
      const now = wall()
      const { from, to = Infinity } = periodOf(query, now)
      const asked = { from, to, targets: query.target, alert: query.alert, severity: query.severity }
      return alertHistoryView(await alertHistory(store, asked, { configured: targets.all(), now }))
    },
)
