import * as z from 'zod'
import { alertOf, HELD_FOR, nameOf, withHeld, type Alert, type LiveAlert } from '../alerts/alert.ts'
import { firesAt, STATES } from '../alerts/alert-instance.ts'
import { callsRequest } from '../alerts/calls-behind.ts'
import { EXPIRED_BECAUSE, type Notification } from '../alerts/notification.ts'
import { NOTICES, SUPPRESSED_BY, type PastEpisode, type Suppression } from '../alerts/episode.ts'
import { matches, type Silence } from '../alerts/match.ts'
import { ofOne, type IncidentId } from '../alerts/incidents.ts'
import { isBeyond, windowOf } from '../alerts/signal.ts'
import { isoTime } from '../clock/times.ts'
import { descriptionOf, ruleText } from '../alerts/text/alert-text.ts'
import { incidentSentence } from '../alerts/text/incident-text.ts'
import { breach, labels, measured, measuredView, severity } from './rule.ts'
import { count, named, namedObject, time } from './shapes.ts'
import { silence } from './silence.ts'

/** What an alert has now, in an event and in the past. */
const alertCore = z.object({
  target: z.string(),
  alert: z.string(),
  severity,
  labels: labels.describe('By which the rule groups calls'),
  breach,
  threshold: z.number(),
  peak: z.number().describe('The worst value since it fired'),
  since: time,
})
const alertWithValue = alertCore.extend({
  signal: measured.signal,
  value: z.number(),
  held: z
    .object({ for: z.enum(HELD_FOR), since: time })
    .exactOptional()
    .describe('If the value is not of now: when it was measured, and whether too few calls or no poll is why'),
  calls: count
    .nullable()
    .describe("How many calls are in the signal's window; null if the signal does not count calls"),
  compared: z
    .object({
      now: z.number(),
      earlier: z.array(z.number()).describe('The latest first'),
      expected: z.number().describe('The median of `earlier`'),
    })
    .exactOptional()
    .describe("What the value of a rule with `relative_to` is relative to, in the signal's unit"),
  usual: z
    .number()
    .exactOptional()
    .describe('Of a rule with `above_usual`: the usual share, if it is known. The threshold depends on it'),
})

/** What an alert has now and in an event. */
type AlertData = z.output<typeof alertWithValue>

/** An alert with the name of it within its target. */
export const alertKeyed = alertWithValue.extend({ key: z.string() })

const expiredBecause = z.enum(EXPIRED_BECAUSE)
const callsUrl = z.string().describe('Request for the calls behind the value, where these can be selected')

export function alertData({ signal, calls, compared, usual, since, held, ...alert }: Alert): AlertData {
  const { target, alert: name, severity, labels, breach, value, threshold, peak } = alert
  return {
    target,
    alert: name,
    severity,
    labels,
    signal: signal.name,
    breach,
    value,
    threshold,
    peak,
    calls: calls ?? null,
    ...(held && { held: { ...held, since: isoTime(held.since) } }),
    ...(compared && { compared: { ...compared, earlier: [...compared.earlier] } }),
    ...(usual !== undefined && { usual }),
    since: isoTime(since),
  }
}

export const alertChange = alertWithValue
  .extend({
    // The log may have events of an earlier version.
    signal: z.string(),
    expired_because: expiredBecause.exactOptional().describe('Why it expired'),
  })
  .describe('An alert in an event')
export type AlertChange = z.output<typeof alertChange>

export function alertChangeView(notification: Notification): AlertChange {
  const { expiredBecause } = notification
  return { ...alertData(notification), ...(expiredBecause !== undefined && { expired_because: expiredBecause }) }
}

const suppression = z.object({
  by: z.enum(SUPPRESSED_BY),
  at: time.describe('When that was noticed'),
  until: time.optional(),
  silence: count.optional().describe('Its id'),
  alert: z.string().optional().describe('Key of the alert that inhibits'),
  target: z.string().optional().describe('Its target, if that is another one'),
  reason: z.string().optional(),
})

/** An alert as it is now. */
export const alert = alertKeyed
  .extend({
    state: z.enum(STATES),
    began: time.describe('Since when it is so: when polls last succeeded, or else when the breach began'),
    firing_since: time.nullable(),
    fires_at: time.optional().describe('When it fires if the breach lasts; only of a pending one'),
    clear: z.number(),
    summary: z.string().describe('In a sentence, as of its incident on its target alone'),
    description: z.string().optional().describe('That of its rule, while its value is beyond the threshold'),
    calls_url: callsUrl.optional(),
    runbook_url: z.string().optional(),
    silences: z.array(count).optional().describe('The ids of the active silences that match it'),
    suppressed: z
      .array(suppression.omit({ at: true }))
      .optional()
      .describe('Why it is not notified now'),
    group: silence.shape.match.describe('With which values it is notified: those of `group` of its incident'),
  })
  .register(named, { id: 'Alert' })
export type AlertView = z.output<typeof alert>

export function alertView(
  live: LiveAlert,
  groupOf: (alert: Alert) => Pick<IncidentId, 'labels'>,
  silences: readonly Silence[] = [],
  suppressed: ReadonlyMap<string, readonly Suppression[]> = new Map(),
  freshFrom = -Infinity,
): AlertView {
  const { state, firingSince } = live.instance
  const alert = withHeld(alertOf(live), live.instance.evaluatedAt, freshFrom)
  const by = suppressed.get(nameOf(alert))
  const said = ofOne(alert)
  const ids = silences.filter(({ match }) => matches(match, alert)).map(({ id }) => id)
  return {
    ...alertData(alert),
    key: alert.key,
    state,
    began: isoTime(said.since),
    firing_since: firingSince === undefined ? null : isoTime(firingSince),
    ...(state === 'pending' && { fires_at: isoTime(firesAt(live.instance)) }),
    clear: alert.clear,
    summary: incidentSentence(said),
    ...described(isBeyond(alert, alert.value, alert.threshold) ? descriptionOf(alert) : undefined),
    calls_url: callsRequest(alert),
    runbook_url: alert.runbookUrl,
    ...(ids.length > 0 && { silences: ids }),
    ...(by && { suppressed: by.map(suppressionView).map(({ at: _at, ...now }) => now) }),
    group: groupOf(alert).labels,
  }
}

const described = (description: string | undefined) => (description === undefined ? {} : { description })

const notice = z.object({
  receiver: z.string(),
  kind: z.enum(NOTICES),
  at: time,
})

/** An alert that fired, and may still fire. */
export const pastAlert = alertCore.extend({
  key: z.string().describe('Rule and labels: names the alert within its target'),
  ...measured,
  match: labels,
  since: time.describe('Firing since'),
  until: time.nullable().describe('Null while it fires'),
  outcome: z.enum(['resolved', 'expired']).nullable().describe('Null while it fires'),
  expired_because: expiredBecause.optional(),
  peak: z.number().describe('The worst value'),
  rule: z.string().describe('When its rule fires, in words'),
  description: z.string().optional().describe('That of the rule, without sentences about the value of a time'),
  values: z
    .array(z.object({ at: time, value: z.number().nullable().describe('Null where there were too few calls') }))
    .describe('The worst value of each minute, or of each of at most 100 longer steps'),
  notified: z.array(notice).describe('The messages that told of it'),
  refused: z
    .array(z.object({ receiver: z.string(), problem: z.string(), at: time }))
    .describe('Messages that a receiver did not accept: the first one of each outage'),
  suppressed: z.array(suppression).describe('Why notifications waited'),
  blind: z.array(z.object({ since: time, until: time })).describe('When the target was not seen meanwhile'),
  calls_url: callsUrl.optional(),
  runbook_url: z.string().optional(),
})
export type PastAlert = z.output<typeof pastAlert>

/** The columns of `alert_history` (docs/sql.md). */
export type AlertColumn =
  | Exclude<keyof z.output<typeof alertCore>, 'labels'>
  | keyof z.output<typeof labels>
  | keyof Pick<PastAlert, 'key' | 'signal' | 'until' | 'outcome' | 'expired_because'>

export const alertHistoryAnswer = namedObject('AlertHistory', {
  alerts: z.array(pastAlert).describe('Newest first'),
  truncated: z.literal(true).optional().describe('There are older ones'),
})
export type AlertHistory = z.output<typeof alertHistoryAnswer>

export function alertHistoryView({ found, isTruncated }: { found: PastEpisode[]; isTruncated: boolean }): AlertHistory {
  return { alerts: found.map(pastAlertView), ...(isTruncated && { truncated: true }) }
}

export function pastAlertView({ target, rule, key, since, until, episode, blind, ...notes }: PastEpisode): PastAlert {
  const { values, ...measuredAs } = episode
  const { severity, signal, match, labels, breach, threshold, peak, window } = episode
  const { outcome = null, expiredBecause, runbookUrl } = episode
  const isEnded = until !== null && windowOf(signal) === undefined
  const request = isEnded ? undefined : callsRequest({ target, signal, match, labels, window })
  return {
    target,
    alert: rule,
    key,
    severity,
    labels,
    ...measuredView(signal),
    match,
    breach,
    threshold,
    since: isoTime(since),
    until: until === null ? null : isoTime(until),
    outcome,
    ...(expiredBecause !== undefined && { expired_because: expiredBecause }),
    peak,
    rule: ruleText({ ...measuredAs, alert: rule }),
    ...described(descriptionOf({ ...measuredAs, target, key, firingSince: since }, { value: NaN })),
    ...(request !== undefined && { calls_url: request }),
    values: values.map(([at, value]) => ({ at: isoTime(at), value })),
    notified: notes.notices.map(({ receiver, kind, at }) => ({ receiver, kind, at: isoTime(at) })),
    refused: notes.refusals.map(({ refusedBy, problem, at }) => ({ receiver: refusedBy, problem, at: isoTime(at) })),
    suppressed: notes.suppressions.map(suppressionView),
    blind: blind.map(({ from, to }) => ({ since: isoTime(from), until: isoTime(to) })),
    ...(runbookUrl !== undefined && { runbook_url: runbookUrl }),
  }
}

function suppressionView({ by, at, until, silence, alert, target, reason }: Suppression): z.output<typeof suppression> {
  return {
    by,
    at: isoTime(at),
    until: until === undefined ? undefined : isoTime(until),
    silence,
    alert,
    target,
    reason,
  }
}
