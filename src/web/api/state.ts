import * as z from 'zod'
import { alertOf, nameOf } from '../../alerts/alert.ts'
import { expectKnown, matches, matchesValue } from '../../alerts/match.ts'
import { alertMatch } from '../../views/silence.ts'
import { state, type State } from '../../views/state/state.ts'
import type { RouteOptions } from '../server.ts'
import type { StateReading } from '../state.ts'
import { route } from './route.ts'

const parameters = alertMatch.extend({
  alerts: z.literal('firing', 'must be firing').optional().describe('Without alerts that are pending'),
})

/** How callwatch is now. With a match, what a silence with it would match. */
export const stateRoute = route(
  'GET /api/v1/state',
  'How callwatch is now: targets, incidents, alerts, receivers, event webhooks and silences',
  {
    checks: { querystring: parameters },
    answers: { 200: state, 304: null },
    isClean: true,
  },
  ({ known, readState }: RouteOptions) =>
    async ({ query, headers }, reply) => {
      const { alerts: _alerts, ...match } = query
      expectKnown(match, known())
      const reading = await readState()
      void reply.headers({ etag: reading.tag, 'cache-control': 'no-cache' })
      const had = headers['if-none-match']?.split(',').map((tag) => tag.trim()) ?? []
      if (had.includes(reading.tag)) return reply.code(304).send()
      return Object.keys(query).length === 0 ? reading.state : selected(reading, query)
    },
)

/** The targets, alerts and incidents that are asked for. */
function selected({ state, lives }: StateReading, { alerts: only, ...match }: z.output<typeof parameters>): State {
  const { target } = match
  const names = new Set(lives.map(alertOf).flatMap((one) => (matches(match, one) ? nameOf(one) : [])))
  const alerts = state.alerts.filter((one) => names.has(nameOf(one)) && (only === undefined || one.state !== 'pending'))
  const groups = new Set(alerts.flatMap((one) => (one.state === 'pending' ? [] : JSON.stringify(one.group))))
  return {
    ...state,
    targets: state.targets.filter(({ name }) => target === undefined || matchesValue(target, name)),
    alerts,
    incidents: state.incidents.filter(({ group }) => groups.has(JSON.stringify(group))),
  }
}
