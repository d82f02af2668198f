import * as z from 'zod'
import { alertOf, type LiveAlert } from '../../alerts/alert.ts'
import { incidentsOf } from '../../alerts/incidents.ts'
import { expectKnown, matches } from '../../alerts/match.ts'
import { SEVERITIES } from '../../alerts/match-keys.ts'
import { alertHistory } from '../../history/alert-history.ts'
import { readNotifiedAlerts, withMessages, type NotifiedAlerts } from '../../history/notified-incidents.ts'
import { onlyStoreErrors } from '../../store/store-error.ts'
import { alertHistoryAnswer, alertHistoryView, alerts, alertView } from '../../views/alert.ts'
import { incidents, incidentView, type IncidentView } from '../../views/incident.ts'
import { alertMatch } from '../../views/silence.ts'
import type { WebOptions } from '../server.ts'
import { period, periodOf } from '../../views/queries/parameters.ts'
import { route } from './route.ts'

/** The alerts as they are now; with a match, those that a silence with it would match. */
export const alertsRoute = route(
  'GET /api/v1/alerts',
  'Alerts that are pending, firing or recovering',
  {
    checks: { querystring: alertMatch },
    answers: { 200: alerts },
  },
  ({ targets, known, store, wall, groupOf, suppressed, freshFrom }: WebOptions) =>
    async ({ query: match }) => {
      expectKnown(match, known())
      // Alerts are shown also while the store cannot be read.
      const silences = await store.silences(wall()).catch(onlyStoreErrors([]))
      const [live, ofAlert] = [liveAlerts(targets), groupOf()]
      const by = suppressed(live, silences)
      return {
        alerts: live
          .filter((one) => matches(match, alertOf(one)))
          .map((one) => alertView(one, ofAlert, silences, by, freshFrom())),
      }
    },
)

/** What fires, by the groups of `notify.group_by`. */
export const incidentsRoute = route(
  'GET /api/v1/incidents',
  'Alerts that fire now, those of each group together, the worst first',
  { answers: { 200: incidents } },
  (options: WebOptions) => async () => {
    const notified = await readNotifiedAlerts(options.store).catch(onlyStoreErrors(undefined))
    return { incidents: incidentsNow(options, notified) }
  },
)

export function incidentsNow(
  { targets, groupOf, freshFrom, configured }: WebOptions,
  notified: NotifiedAlerts = new Map(),
): IncidentView[] {
  const now = incidentsOf(liveAlerts(targets), groupOf(), targets.all().length, freshFrom(), configured())
  return withMessages(now, notified).map(incidentView)
}

export function liveAlerts({ own, others }: Pick<WebOptions['targets'], 'own' | 'others'>): LiveAlert[] {
  return [...own(), ...others()].flatMap(({ name: target, alerts }) =>
    [...alerts.values()].map((instance) => ({ target, instance })),
  )
}

const parameters = z.strictObject({
  ...period,
  alert: z.string().optional().describe('Name of a rule'),
  severity: z.enum(SEVERITIES, `must be one of ${SEVERITIES.join(', ')}`).optional(),
})

/** The alerts that fired in a period, those that still fire included, newest first. */
export const alertHistoryRoute = route(
  'GET /api/v1/alerts/history',
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
