import * as z from 'zod'
import { HELD_FOR } from '../alerts/alert.ts'
import { KINDS } from '../alerts/fleet.ts'
import type { Incident } from '../alerts/incidents.ts'
import { isoTime } from '../clock/times.ts'
import { FAILURES } from '../ledger/failure-ratio.ts'
import { ABOUT, incidentLines, incidentSentence } from '../alerts/text/incident-text.ts'
import { failuresOf } from '../alerts/notification.ts'
import { alertKeyed } from './alert.ts'
import { severity } from './rule.ts'
import { count, finite, finiteOf, named, time, timeOrNull } from './shapes.ts'
import { silence } from './silence.ts'

/** How many of the worst alerts are shown. */
const MOST_ALERTS = 10

/** Of targets. */
const share = { failing: count, of: count }

/** What fires on several targets, or on one, for the same reason. */
export const incident = z
  .object({
    group: silence.shape.match.describe('What its alerts have in common, by `notify.group_by`'),
    severity: severity.describe(
      'The highest of what is beyond its threshold now, or the lowest of its subject if nothing is',
    ),
    summary: z.string().describe('In a sentence'),
    details: z.array(z.object({ about: z.enum(ABOUT), text: z.string() })).describe('What else is known, in sentences'),
    since: time.describe(
      'When the breaches of most of its alerts began, or when polls last succeeded; targets that broke long before do not count',
    ),
    targets: z.object({
      firing: count,
      recovering: count.describe('Of those that fire, on which all values are back within their threshold'),
      pending: count.describe('On which alerts are pending only'),
      of: count.describe('All targets'),
    }),
    held: z
      .array(z.object({ for: z.enum(HELD_FOR), targets: count, since: time }))
      .describe('On how many targets values are from before, since when, and for lack of what'),
    calls: z
      .object({
        total: finite,
        failed: finite,
        outcome: z.enum(FAILURES).nullable(),
        as_of: time.nullable().describe('When they were counted; null: now'),
      })
      .nullable()
      .describe('Of all its targets that have enough calls; null if it is not about a share of calls'),
    shared: z
      .object({ by: z.enum(KINDS), value: z.string(), ...share, others: z.object(share) })
      .nullable()
      .describe('What most of its targets have in common and others have not, by more than chance'),
    contributor: z.object({ label: z.string(), value: z.string() }).nullable(),
    causes: z.array(
      z.object({ signal: z.string(), targets: count, cause: z.string().nullable().describe('The most frequent one') }),
    ),
    worst: z
      .array(
        alertKeyed
          .pick({ target: true, alert: true, key: true })
          .extend({ value: finite, calls: finite, failed: finite, as_of: time.nullable() }),
      )
      .describe('At most ten alerts whose value is beyond the threshold, those with most failed calls first'),
    others: z.array(z.object({ alert: z.string(), targets: count })).describe('What else fires on its targets'),
    runbook_url: z.string().optional().describe('In the state'),
  })
  .register(named, { id: 'Incident' })
export type IncidentView = z.output<typeof incident>

export function incidentView(incident: Incident): IncidentView {
  const { labels, severity, since, targets, held, calls, shared, contributor, causes, worst, others } = incident
  return {
    group: labels,
    severity,
    summary: incidentSentence(incident),
    details: incidentLines(incident),
    since: isoTime(since),
    targets,
    held: held.map((one) => ({ ...one, since: isoTime(one.since) })),
    calls:
      calls === undefined
        ? null
        : {
            total: finiteOf(calls.total),
            failed: finiteOf(calls.failed),
            outcome: calls.outcome ?? null,
            as_of: timeOrNull(calls.asOf),
          },
    shared: shared ?? null,
    contributor: contributor ?? null,
    causes: causes.map(({ cause = null, ...each }) => ({ ...each, cause })),
    worst: worst.slice(0, MOST_ALERTS).map((alert) => {
      const { target, alert: name, key, value, calls, held } = alert
      const failed = failuresOf(alert)
      const numbers = { value: finiteOf(value), calls: finiteOf(calls), failed: finiteOf(failed) }
      return { target, alert: name, key, ...numbers, as_of: timeOrNull(held?.since) }
    }),
    others: [...others],
  }
}
