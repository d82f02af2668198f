import * as z from 'zod'
import { alertData, alertSchema } from '../../alerts/alert-data.ts'
import { alertOf, type LiveAlert } from '../../alerts/alert.ts'
import { matches, unknownIn, type Silence } from '../../alerts/match.ts'
import { isoTime } from '../../clock/iso-time.ts'
import { callsRequest } from '../../alerts/calls-behind.ts'
import { onlyStoreErrors } from '../../store/store-error.ts'
import { BadRequest } from '../problem.ts'
import type { WebOptions } from '../server.ts'
import { alertMatch, givenIn } from './parameters.ts'
import { callsUrl, count, named, namedObject, time } from './parts.ts'
import { route } from './route.ts'

const alert = alertSchema
  .extend({
    state: z.enum(['pending', 'firing', 'recovering']),
    firing_since: time.nullable(),
    clear: z.number(),
    calls_url: callsUrl.optional(),
    runbook_url: z.string().optional(),
    silences: z.array(count).optional().describe('The ids of the active silences that match it'),
  })
  .register(named, { id: 'Alert' })

const answer = namedObject('Alerts', { alerts: z.array(alert) })

export type AlertView = z.output<typeof alert>

/** The alerts as they are now; with a match, those that a silence with it would match. */
export const alertsRoute = route(
  'GET /api/v1/alerts',
  'Alerts that are pending, firing or recovering',
  {
    checks: { querystring: alertMatch },
    answers: { 200: answer },
  },
  ({ targets, known, store, wall }: WebOptions) =>
    async ({ query }) => {
      const match = givenIn(query)
      const unknown = unknownIn(match, known())
      if (unknown !== undefined) throw new BadRequest(unknown)
      const own = targets.own().map(({ name, alerts }) => ({ name, alerts: [...alerts.values()] }))
      const all = [...own, ...targets.others()].flatMap(({ name, alerts }) =>
        alerts.map((instance) => ({ target: name, instance })),
      )
      // Alerts are shown also while the store cannot be read.
      const silences = await store.silences(wall()).catch(onlyStoreErrors([]))
      return { alerts: all.filter((live) => matches(match, alertOf(live))).map((live) => alertView(live, silences)) }
    },
)

export function alertView(live: LiveAlert, silences: readonly Silence[] = []): AlertView {
  const { state, firingSince } = live.instance
  const alert = alertOf(live)
  const ids = silences.filter(({ match }) => matches(match, alert)).map(({ id }) => id)
  return {
    ...alertData(alert),
    state,
    firing_since: firingSince === undefined ? null : isoTime(firingSince),
    clear: alert.clear,
    calls_url: callsRequest(alert),
    runbook_url: alert.runbookUrl,
    ...(ids.length > 0 && { silences: ids }),
  }
}
