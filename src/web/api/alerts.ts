import type { FastifyInstance } from 'fastify'
import { alertOf } from '../../alerts/alert.ts'
import { matches, unknownIn, type KnownNames } from '../../alerts/match.ts'
import { api, type RouteDescription } from './route.ts'
import { alertMatch, givenIn } from './match-parameters.ts'
import { BadRequest } from '../problem.ts'
import type { ServedTargets } from '../server.ts'
import { alertView } from '../views.ts'

export type AlertsRouteOptions = { targets: ServedTargets; known: () => KnownNames }

/** `GET /api/v1/alerts`: the alerts as they are now; with a match, those that a silence with it would match. */
export function alertsRoute(app: FastifyInstance, { targets, known }: AlertsRouteOptions): void {
  const config: RouteDescription = {
    summary: 'Alerts that are pending, firing or recovering',
    answers: { 200: 'Alerts' },
  }
  api(app).get('/api/v1/alerts', { schema: { querystring: alertMatch }, config }, async ({ query }) => {
    const match = givenIn(query)
    const unknown = unknownIn(match, known())
    if (unknown !== undefined) throw new BadRequest(unknown)
    const own = targets.own().map(({ name, alerts }) => ({ name, alerts: [...alerts.values()] }))
    const all = [...own, ...targets.others()].flatMap(({ name, alerts }) =>
      alerts.map((instance) => ({ target: name, instance })),
    )
    return { alerts: all.filter((live) => matches(match, alertOf(live))).map(alertView) }
  })
}
