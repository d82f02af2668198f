import * as z from 'zod'
import { alertSchema } from '../alerts/alert-data.ts'
import { RULE_LABELS } from '../alerts/groups.ts'
import { MATCH_KEYS, SEVERITIES } from '../alerts/match-keys.ts'
import { signals } from '../alerts/signals.ts'
import { EVENT_TYPES, type AlertChange, type CallChange } from '../events/types.ts'
import type { CallRowView, CallView } from '../events/call-data.ts'
import type { WebhookView } from '../events/webhooks/webhook-views.ts'
import type { AlertHistory } from '../history/alert-history.ts'
import type { CoverageView, UsageReport } from '../history/usage-report.ts'
import { FINAL_STATUSES, MODES, OPEN_STATUSES, PARTICIPANT_STATES, RECEIVER_TYPES, TYPES } from '../ledger/call.ts'
import type { CallDetails } from './api/call.ts'
import type { FinishedPerMinute } from './api/finished-per-minute.ts'
import type { Problem } from './problem.ts'
import type { RuleView } from './api/rule-view.ts'
import type { SeriesView } from './api/series.ts'
import type { SilenceView } from './api/silences.ts'
import type { TargetView } from './api/target-view.ts'
import type { AlertView } from './views.ts'

/*
 * What the routes of `/api/v1` answer, for the document. Only the test that generates it loads this file: the daemon needs
 * none of it, and formats its answers itself.
 */

const time = z.iso.datetime()
const count = z.int().nonnegative()
const seconds = z.number().nonnegative()
const label = z.enum(RULE_LABELS)
const labels = z.partialRecord(label, z.string())
const minutes = z.object({ audio: z.number(), video: z.number() })
const breach = z.enum(['above', 'below'])
const severity = z.enum(SEVERITIES)
const signal = z.enum(signals.map(({ name }) => name))
const statuses = [...OPEN_STATUSES, ...FINAL_STATUSES, 'other'] as const

const problem = z.object({
  type: z.literal('about:blank'),
  title: z.string().describe('Name of the status'),
  status: z.int(),
  detail: z.string().describe('What is wrong, in a sentence'),
}) satisfies z.ZodType<Problem>

const outcomes = { ended: count, unanswered: count, rejected: count, canceled: count, other: count }
const ratio = z.number().min(0).max(1)
const percentiles = z.object({ p50: seconds.nullable(), p95: seconds.nullable() }).describe('Exact to 2%')
const durations = percentiles.extend({ mean: seconds.nullable() }).describe('The percentiles are exact to 2%')

/** A signal with its settings. */
const measured = {
  signal,
  window_seconds: seconds.exactOptional(),
  reason: z.enum(['any', 'unanswered', 'rejected', 'canceled']).exactOptional(),
  media: z.enum(['audio', 'video', 'both']).exactOptional(),
  min_calls: count.exactOptional(),
  limit: z.number().exactOptional(),
  timezone: z.string().exactOptional(),
  longer_than_seconds: seconds.exactOptional(),
}

const rule = z.object({
  name: z.string(),
  severity,
  ...measured,
  breach,
  threshold: z.number(),
  clear: z.number(),
  match: labels,
  by: z.array(label),
  readings: z
    .array(z.object({ labels, value: z.number().nullable().describe('Null of too few calls'), calls: count }))
    .exactOptional(),
}) satisfies z.ZodType<RuleView>

const used = z.object({ since: time, minutes: z.number() })

const target = z.object({
  name: z.string(),
  up: z.boolean().describe('Whether the last poll was successful'),
  problem: z.string().exactOptional().describe('Why it was not'),
  owner: z.string().exactOptional().describe('With a shared store: the daemon that owns the target'),
  commit: count.describe('Number of the last commit, to which all that is shown belongs'),
  created: time,
  horizon: time.describe('How far back calls count'),
  last_success: time.nullable(),
  lag_seconds: seconds,
  sweep_age_seconds: seconds.nullable(),
  interval_seconds: seconds,
  effective_interval_seconds: seconds.nullable(),
  clock_skew_seconds: z.number().nullable(),
  listing: z.object({ pages_read: count, pages: count.nullable(), seconds_left: count.nullable() }).exactOptional(),
  tracked_calls: count,
  in_progress: count,
  in_progress_by: z.array(z.object({ type: z.string(), mode: z.string(), calls: count })),
  participants_in_progress: count,
  started: count,
  finished: z.object({ ...outcomes, lost: count }),
  minutes,
  participant_minutes: minutes,
  participant_minutes_today: used,
  participant_minutes_this_month: used,
  windows: z.array(
    z.object({
      window: z.string(),
      seconds,
      calls: count,
      finished: z.object(outcomes),
      failure_ratio: z
        .object({ any: ratio, unanswered: ratio, rejected: ratio, canceled: ratio })
        .nullable()
        .describe('Null below five calls'),
    }),
  ),
  rules: z.array(rule),
  requests_last_minute: count,
  max_requests_per_minute: count,
  rate_limit_pause_seconds: seconds.describe('Rest of a rate limit pause'),
  slowed_to_requests_per_minute: z.number().exactOptional().describe('Where the service has few left for the app'),
  refused_from_page: count.exactOptional(),
  slow_sweep: z.object({ pages: count, seconds }).exactOptional(),
  warnings: z
    .array(
      z.object({
        kind: z.enum(['clock_skew', 'order_unverified', 'order_refuted']),
        message: z.string(),
      }),
    )
    .exactOptional(),
}) satisfies z.ZodType<TargetView>

const callData = z.object({
  target: z.string(),
  session_id: z.string(),
  type: z.enum(TYPES),
  mode: z.enum(MODES),
  receiver_type: z.enum(RECEIVER_TYPES),
  status: z.enum(statuses),
  began: time,
  finished: time.exactOptional(),
  participants: count,
  minutes,
}) satisfies z.ZodType<CallView>

const call = z.object({
  ...callData.shape,
  status: z.enum([...statuses, 'lost']),
  duration_seconds: seconds.exactOptional(),
  answer_delay_seconds: seconds.exactOptional(),
  has_recording: z.boolean(),
  noticed: time.exactOptional().describe('When callwatch noticed that it had finished'),
  participant_minutes: minutes,
}) satisfies z.ZodType<CallRowView>

const point = z.enum(['none', ...statuses, 'lost'])

const callChange = z.object({
  ...callData.shape,
  duration_seconds: seconds.exactOptional(),
  answer_delay_seconds: seconds.exactOptional(),
  has_recording: z.boolean(),
  from: point.exactOptional(),
  to: point.exactOptional(),
  inferred: z.boolean().exactOptional().describe('callwatch did not see this step'),
  before: z
    .object({ status: z.enum(statuses), minutes })
    .exactOptional()
    .describe('What was known before a correction'),
  after: z.object({ status: z.enum(statuses) }).exactOptional(),
  participant_list: z
    .array(
      z.object({
        uid: z.string().exactOptional(),
        state: z.enum(PARTICIPANT_STATES).exactOptional(),
        joined: z.boolean(),
        joined_at: time.exactOptional(),
        left_at: time.exactOptional(),
        minutes,
      }),
    )
    .exactOptional()
    .describe('Only with events.participants'),
  detected_at: time.describe('When callwatch saw it'),
  backfilled: z.boolean(),
}) satisfies z.ZodType<CallChange>

const expiredBecause = z.enum(['too few calls', 'rule removed', 'rule changed', 'target removed', 'target reset'])

const alertChange = alertSchema.extend({
  // The log may have events of an earlier version.
  signal: z.string(),
  expired_because: expiredBecause.exactOptional(),
}) satisfies z.ZodType<AlertChange>

/** A CloudEvent 1.0. */
const event = z.object({
  specversion: z.literal('1.0'),
  id: z.string(),
  source: z.string(),
  type: z.enum(EVENT_TYPES.map((type) => `callwatch.${type}` as const)),
  subject: z.string().exactOptional().describe('Of a call its session_id'),
  time,
  datacontenttype: z.literal('application/json'),
  data: z.union([callChange, alertChange]),
})

const silence = z.object({
  id: count,
  match: z.partialRecord(z.enum(MATCH_KEYS), z.string()),
  since: time,
  until: time,
  reason: z.string(),
  author: z.string().exactOptional().describe('Who added it; absent where that is not known'),
  edits: count.describe('How often it was edited'),
}) satisfies z.ZodType<SilenceView>

const callsUrl = z.string().describe('Request for the calls behind the value, where these can be selected')

const alert = alertSchema.extend({
  state: z.enum(['pending', 'firing', 'recovering']),
  firing_since: time.nullable(),
  clear: z.number(),
  calls_url: callsUrl.exactOptional(),
  runbook_url: z.string().exactOptional(),
}) satisfies z.ZodType<AlertView>

const alertHistory = z.object({
  alerts: z.array(
    z.object({
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
      expired_because: expiredBecause.exactOptional(),
      peak: z.number().describe('The worst value'),
      values: z
        .array(z.object({ at: time, value: z.number().nullable().describe('Null where there were too few calls') }))
        .describe('The worst value of each minute, or of each of at most 100 longer steps'),
      notified: z
        .array(
          z.object({
            receiver: z.string(),
            kind: z.enum(['firing', 'reminder', 'resolved', 'expired']),
            at: time,
            outcome: z
              .enum(['sent', 'dropped', 'discarded', 'unknown'])
              .describe(
                'dropped: refused for good; discarded: not sent, since it had ended by then; unknown: a process died that may have sent it',
              ),
          }),
        )
        .describe('What became of the notifications; what still waits is absent'),
      suppressed: z
        .array(
          z.object({
            by: z.enum(['silence', 'mute', 'poll_age', 'inhibition']),
            at: time.describe('When that was noticed'),
            until: time.exactOptional(),
            silence: count.exactOptional().describe('Its id'),
            alert: z.string().exactOptional().describe('Key of the alert that inhibits'),
            target: z.string().exactOptional().describe('Its target, if that is another one'),
            reason: z.string().exactOptional(),
          }),
        )
        .describe('Why notifications waited'),
      blind: z.array(z.object({ since: time, until: time })).describe('When the target was not seen meanwhile'),
      calls_url: callsUrl.exactOptional(),
      runbook_url: z.string().exactOptional(),
    }),
  ),
  truncated: z.literal(true).exactOptional().describe('There are older ones'),
}) satisfies z.ZodType<AlertHistory>

const webhook = z.object({
  name: z.string(),
  state: z.enum(['delivering', 'failing', 'paused', 'removed']),
  pending: count,
  oldest_pending_seconds: seconds.exactOptional(),
  dead_letters: count,
  problem: z.string().exactOptional(),
  failing_since: time.exactOptional(),
  last_delivered: time.exactOptional(),
  removed_at: time.exactOptional(),
}) satisfies z.ZodType<WebhookView>

const perMinute = z.array(count.nullable().describe('Null where it is not known yet'))
const finishedPerMinute = z.object({
  since: time,
  step_seconds: count,
  targets: z.array(
    z.object({
      name: z.string(),
      ended: perMinute,
      unanswered: perMinute,
      rejected: perMinute,
      canceled: perMinute,
      other: perMinute,
    }),
  ),
}) satisfies z.ZodType<FinishedPerMinute>

const coverage = z.object({
  blind_seconds: seconds.describe('How long the calls of at least one target are not all known'),
  blind: z.array(
    z.object({
      target: z.string(),
      kind: z
        .enum(['before', 'expired', 'ended', 'now'])
        .describe(
          'before: the target was not set up yet; expired: calls that finished then are not kept any more; ended: what finished meanwhile was noticed late; now: no poll has succeeded since',
        ),
      since: time,
      until: time,
    }),
  ),
}) satisfies z.ZodType<CoverageView>

const report = z.object({
  since: time,
  until: time,
  zone: z.string(),
  coverage,
  rows: z.array(
    z.object({
      day: z.iso.date().exactOptional(),
      target: z.string().exactOptional(),
      type: z.string().exactOptional(),
      mode: z.string().exactOptional(),
      receiver_type: z.string().exactOptional(),
      calls: z.object({ ...outcomes, lost: count }),
      minutes,
      participant_minutes: minutes,
      failure_ratio: ratio.nullable().describe('Null below five calls'),
      duration_seconds: durations,
      noticed_late: count.describe('Calls that were noticed more than five minutes after their end'),
    }),
  ),
}) satisfies z.ZodType<UsageReport>

const series = z.object({
  since: time,
  until: time,
  step_seconds: count,
  points: z.array(
    z.object({
      at: time.describe('When the step began'),
      calls: z.object({ ...outcomes, lost: count }),
      minutes,
      participant_minutes: minutes,
      failure_ratio: ratio.nullable().describe('Null below five calls'),
      duration_seconds: durations,
      answer_delay_seconds: percentiles,
      in_progress: count.nullable().describe('When the step began; null where it is not known'),
    }),
  ),
  coverage,
}) satisfies z.ZodType<SeriesView>

const callDetails = z.object({
  call,
  first_seen: time,
  at_its_end: z
    .object({ status: z.enum([...FINAL_STATUSES, 'other']), minutes })
    .exactOptional()
    .describe('As it was counted; `call` has the minutes of today'),
  status_now: z.enum(statuses).describe('As the service last said'),
  events_since: time.exactOptional().describe('Older events are not kept; absent where there is none'),
  events: z.array(event),
}) satisfies z.ZodType<CallDetails & { events: unknown[] }>

const cursor = z.string().describe('`cursor` of the next page')

/** By the names that they have in the document. */
export const answers = {
  Problem: problem.describe('The request was refused, or has failed'),
  CursorExpired: problem
    .extend({ oldest: z.string().describe('Cursor from which all events that are left are read') })
    .describe('The events after this cursor are not known any more'),
  Status: z.object({
    version: z.string(),
    now: time,
    problem: z.string().exactOptional().describe('Why this daemon can own no target'),
    targets: z.array(target),
  }),
  Target: target,
  Call: call,
  Event: event,
  Alert: alert,
  Webhook: webhook,
  Calls: z.object({ calls: z.array(call), truncated: z.literal(true).exactOptional(), next: cursor.exactOptional() }),
  CallsCsv: z.string().describe('The same as CSV; with limit, x-callwatch-next is the cursor of the next page'),
  CallsNdjson: z.string().describe('The same, each call as a line of JSON'),
  CallDetails: callDetails,
  Report: report,
  ReportCsv: z.string().describe('The rows as CSV'),
  Coverage: coverage,
  Series: series,
  FinishedPerMinute: finishedPerMinute,
  Alerts: z.object({ alerts: z.array(alert) }),
  AlertHistory: alertHistory,
  Silences: z.object({
    silences: z.array(silence),
    read_only: z.literal(true).exactOptional().describe('They cannot be changed: http.auth is missing'),
  }),
  Silence: silence,
  Events: z.object({ events: z.array(event), next: z.string().describe('Cursor after the last of them') }),
  EventBatch: z.array(event).describe('A batch of CloudEvents; the header callwatch-next is the cursor after the last'),
  EventStream: z.string().describe('Server-sent events, whose data are CloudEvents and whose ids are cursors'),
  Webhooks: z.object({ webhooks: z.array(webhook) }),
  OpenApi: z.looseObject({ openapi: z.string() }),
} satisfies Record<string, z.ZodType>

export type AnswerName = keyof typeof answers
