import { DOCUMENTED_LABELS, FINAL_STATUSES, type Labels } from './call.ts'
import { MEASURES } from './delta/minutes.ts'
import { DOCUMENTED_STEPS } from './delta/transitions.ts'

/**
 * A counter that the store keeps. The key of a series is the metric's name and the label values, in the order of `labels`,
 * joined by `|`, which no documented value contains. There is no label `target`, because each target has its own ledger.
 */
export type DurableCounter = {
  name: string
  help: string
  labels: readonly string[]
  /** Label values that are exported as 0 from the start, so that `rate()` sees the first increment. */
  span: readonly (readonly string[])[]
}

/** A histogram. Its keys end in `sum` or in the upper bound of a bucket. A bucket's count is not cumulative. */
export type DurableHistogram = DurableCounter & { buckets: readonly number[] }

const labelValues = ({ type, mode, receiverType }: Labels) => [type, mode, receiverType]
const CALL_LABELS = ['type', 'mode', 'receiver_type']
const EACH_LABELS = DOCUMENTED_LABELS.map(labelValues)
const MEDIA = ['audio', 'video']
export const ANOMALIES = [
  'final_changed',
  'unknown_status',
  'labels_changed',
  'bad_value',
  'time_reversed',
  'too_many_participants',
  'ambiguous_session',
] as const
export type Anomaly = (typeof ANOMALIES)[number]
export const INVALID_REASONS = ['no_session_id', 'no_status', 'not_an_object'] as const
export type InvalidReason = (typeof INVALID_REASONS)[number]

export const COUNTERS = {
  started: {
    name: 'callwatch_calls_started_total',
    help: 'Calls first seen',
    labels: CALL_LABELS,
    span: EACH_LABELS,
  },
  finished: {
    name: 'callwatch_calls_total',
    help: 'Calls that reached a final status: ended, unanswered, rejected, canceled, other',
    labels: [...CALL_LABELS, 'status'],
    span: EACH_LABELS.flatMap((labels) => FINAL_STATUSES.map((status) => [...labels, status])),
  },
  lost: {
    name: 'callwatch_calls_lost_total',
    help: 'Open calls that the service no longer knows',
    labels: [],
    span: [[]],
  },
  reappeared: {
    name: 'callwatch_calls_reappeared_total',
    help: 'Lost calls that reappeared',
    labels: [],
    span: [[]],
  },
  transitions: {
    name: 'callwatch_call_transitions_total',
    help: 'Status transitions; from="none" when first seen; observed="false" where the step happened between two polls and was inferred (a call first seen as ended was initiated and ongoing before)',
    labels: ['from', 'to', 'observed'],
    span: DOCUMENTED_STEPS.flatMap(([from, to]) => ['true', 'false'].map((observed) => [from, to, observed])),
  },
  callMinutes: {
    name: 'callwatch_call_minutes_total',
    help: 'Call-level minutes; media is audio or video',
    labels: [...CALL_LABELS, 'media'],
    span: EACH_LABELS.flatMap((labels) => MEDIA.map((media) => [...labels, media])),
  },
  participantMinutes: {
    name: 'callwatch_participant_minutes_total',
    help: 'Participant-level minutes, summed over the entries of each call',
    labels: ['media'],
    span: MEDIA.map((media) => [media]),
  },
  corrections: {
    name: 'callwatch_minutes_corrections_total',
    help: 'Minutes by which totals of final calls went down; level is call or participant; never subtracted from the counters',
    labels: ['media', 'level'],
    span: MEASURES.map(({ media, level }) => [media, level]),
  },
  recorded: {
    name: 'callwatch_calls_recorded_total',
    help: 'Finished calls with a recording',
    labels: [],
    span: [[]],
  },
  anomalies: {
    name: 'callwatch_call_anomalies_total',
    help: 'final_changed, unknown_status, labels_changed, bad_value, time_reversed, too_many_participants, ambiguous_session',
    labels: ['kind'],
    span: ANOMALIES.map((kind) => [kind]),
  },
  webhookEnds: {
    name: 'callwatch_service_webhook_ends_total',
    help: 'Ends of calls by whether a webhook of the calls service announced them within a minute: yes, no, unknown (this daemon did not listen from a minute before); absent without webhooks',
    labels: ['announced'],
    span: [],
  },
  invalidItems: {
    name: 'callwatch_invalid_items_total',
    help: 'Items of a list that could not be used: no_session_id, no_status, not_an_object',
    labels: ['reason'],
    span: INVALID_REASONS.map((reason) => [reason]),
  },
} satisfies Record<string, DurableCounter>

export const HISTOGRAMS = {
  duration: {
    name: 'callwatch_call_duration_seconds',
    help: 'startedAt to endedAt of ended calls; 1, 5, 10, 30, 60, 300, 600, 1800, 3600, 7200',
    labels: CALL_LABELS,
    span: EACH_LABELS,
    buckets: [1, 5, 10, 30, 60, 300, 600, 1800, 3600, 7200],
  },
  answerDelay: {
    name: 'callwatch_call_answer_delay_seconds',
    help: 'initiatedAt to startedAt of finished calls that were answered, where both exist; 1, 2, 5, 10, 15, 20, 30, 45, 60, 90',
    labels: ['type', 'receiver_type'],
    span: [...new Set(DOCUMENTED_LABELS.map(({ type, receiverType }) => `${type}|${receiverType}`))].map((key) =>
      key.split('|'),
    ),
    buckets: [1, 2, 5, 10, 15, 20, 30, 45, 60, 90],
  },
  participants: {
    name: 'callwatch_call_participants',
    help: 'totalParticipants of finished calls; 1, 2, 3, 4, 6, 8, 12, 25, 50',
    labels: CALL_LABELS,
    span: EACH_LABELS,
    buckets: [1, 2, 3, 4, 6, 8, 12, 25, 50],
  },
} satisfies Record<string, DurableHistogram>

/** The key of a durable series. */
export function seriesKey({ name }: DurableCounter, ...values: readonly string[]): string {
  return [name, ...values].join('|')
}
