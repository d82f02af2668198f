import * as z from 'zod'
import { alertOf, type LiveAlert } from '../../alerts/alert.ts'
import { alertData, alertSchema } from '../../alerts/alert-data.ts'
import { matches, unknownIn, type Silence } from '../../alerts/match.ts'
import { isoTime } from '../../clock/times.ts'
import { callsRequest } from '../../alerts/calls-behind.ts'
import { onlyStoreErrors } from '../../store/store-error.ts'
import { BadRequest } from '../problem.ts'
import type { WebOptions } from '../server.ts'
import { SEVERITIES } from '../../alerts/match-keys.ts'
import { alertHistory } from '../../history/alert-history.ts'
import { alertMatch, givenIn, period, periodOf } from './parameters.ts'
import {
  callsUrl,
  count,
  named,
  namedObject,
  time,
  breach,
  expiredBecause,
  labels,
  measured,
  severity,
} from './parts.ts'
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

const parameters = z.strictObject({
  ...period,
  alert: z.string().optional().describe('Name of a rule'),
  severity: z.enum(SEVERITIES, `must be one of ${SEVERITIES.join(', ')}`).optional(),
})

const notice = z.object({
  receiver: z.string(),
  kind: z.enum(['firing', 'reminder', 'resolved', 'expired']),
  at: time,
  outcome: z
    .enum(['sent', 'dropped', 'discarded', 'unknown'])
    .describe(
      'dropped: refused or not confirmed, and not sent again; discarded: not sent, since it had ended by then; unknown: a process died that may have sent it',
    ),
})

const suppression = z.object({
  by: z.enum(['silence', 'mute', 'poll_age', 'inhibition']),
  at: time.describe('When that was noticed'),
  until: time.optional(),
  silence: count.optional().describe('Its id'),
  alert: z.string().optional().describe('Key of the alert that inhibits'),
  target: z.string().optional().describe('Its target, if that is another one'),
  reason: z.string().optional(),
})

const pastAlert = z.object({
  target: z.string(),
  alert: z.string(),
  key: z.string().describe('Rule and labels: names the alert within its target'),
  severity,
  labels,
  ...measured,
  match: labels,
  breach,
  threshold: z.number(),
  since: time.describe('Firing since'),
  until: time.nullable().describe('Null while it fires'),
  outcome: z.enum(['resolved', 'expired']).nullable().describe('Null while it fires'),
  expired_because: expiredBecause.optional(),
  peak: z.number().describe('The worst value'),
  values: z
    .array(z.object({ at: time, value: z.number().nullable().describe('Null where there were too few calls') }))
    .describe('The worst value of each minute, or of each of at most 100 longer steps'),
  notified: z.array(notice).describe('What became of the notifications; what still waits is absent'),
  suppressed: z.array(suppression).describe('Why notifications waited'),
  blind: z.array(z.object({ since: time, until: time })).describe('When the target was not seen meanwhile'),
  calls_url: callsUrl.optional(),
  runbook_url: z.string().optional(),
})

const historyAnswer = namedObject('AlertHistory', {
  alerts: z.array(pastAlert),
  truncated: z.literal(true).optional().describe('There are older ones'),
})

/** The alerts that fired in a period, those that still fire included, newest first. */
export const alertHistoryRoute = route(
  'GET /api/v1/alerts/history',
  'Alerts that fired in a period, those that still fire included, newest first',
  {
    checks: { querystring: parameters },
    answers: { 200: historyAnswer },
    // A response has up to a thousand alerts, each with its values.
    atATime: 2,
  },
  ({ store, wall, targets }: WebOptions) =>
    async ({ query }) => {
      const now = wall()
      const { from, to = Infinity } = periodOf(query, now)
      const asked = { from, to, targets: query.target, alert: query.alert, severity: query.severity }
      return alertHistory(store, asked, { configured: targets.all(), now })
    },
)
