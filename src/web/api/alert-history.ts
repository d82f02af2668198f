import * as z from 'zod'
import { SEVERITIES } from '../../alerts/match-keys.ts'
import { alertHistory } from '../../history/alert-history.ts'
import { breach, callsUrl, count, expiredBecause, labels, measured, namedObject, severity, time } from './parts.ts'
import { period, periodOf } from './parameters.ts'
import { route } from './route.ts'
import type { WebOptions } from '../server.ts'

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
      'dropped: permanently refused; discarded: not sent, since it had ended by then; unknown: a process died that may have sent it',
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

const answer = namedObject('AlertHistory', {
  alerts: z.array(pastAlert),
  truncated: z.literal(true).optional().describe('There are older ones'),
})

/** The alerts that fired in a period, those that still fire included, newest first. */
export const alertHistoryRoute = route(
  'GET /api/v1/alerts/history',
  'Alerts that fired in a period, those that still fire included, newest first',
  {
    checks: { querystring: parameters },
    answers: { 200: answer },
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
