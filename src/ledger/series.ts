import { FINAL_STATUSES, MODES, RECEIVER_TYPES, TYPES } from './call.ts'
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

const documented = (values: readonly string[]) => values.filter((value) => value !== 'other')
const CALL_LABELS = { type: documented(TYPES), mode: documented(MODES), receiver_type: documented(RECEIVER_TYPES) }
export const MEDIA = ['audio', 'video'] as const
export const ANOMALIES = [
  'final_changed',
  'unknown_status',
  'labels_changed',
  'bad_value',
  'time_reversed',
  'too_many_participants',
] as const
export type Anomaly = (typeof ANOMALIES)[number]
export const INVALID_REASONS = ['no_session_id', 'no_status', 'not_an_object'] as const
export type InvalidReason = (typeof INVALID_REASONS)[number]

/** What counts of the people whom a call invited: each who joined, and each who did not; or the call, if that is not known. */
export const INVITED = ['joined', 'absent', 'unknown'] as const

type LabelValues = Readonly<Record<string, readonly string[]>>

/** @param values of each label; all their combinations are exported from the start, unless `span` is given */
function counter(
  name: string,
  help: string,
  values: LabelValues = {},
  span: DurableCounter['span'] = combinations(Object.values(values)),
): DurableCounter {
  return { name, help, labels: Object.keys(values), span }
}

function combinations(lists: readonly (readonly string[])[]): string[][] {
  return lists.reduce<string[][]>((all, list) => all.flatMap((one) => list.map((value) => [...one, value])), [[]])
}

function histogram(name: string, help: string, values: LabelValues, buckets: readonly number[]): DurableHistogram {
  return { ...counter(name, `${help}; ${buckets.join(', ')}`, values), buckets }
}

export const COUNTERS = {
  started: counter('callwatch_calls_started_total', 'Calls first seen', CALL_LABELS),
  finished: counter(
    'callwatch_calls_total',
    'Calls that reached a final status: ended, unanswered, rejected, canceled, other',
    { ...CALL_LABELS, status: FINAL_STATUSES },
  ),
  lost: counter('callwatch_calls_lost_total', 'Open calls that the service no longer knows'),
  reappeared: counter('callwatch_calls_reappeared_total', 'Lost calls that reappeared'),
  transitions: counter(
    'callwatch_call_transitions_total',
    'Status transitions; from="none" when first seen; observed="false" if inferred between two polls',
    { from: [], to: [], observed: ['true', 'false'] },
    DOCUMENTED_STEPS.flatMap(([from, to]) => ['true', 'false'].map((observed) => [from, to, observed])),
  ),
  callMinutes: counter('callwatch_call_minutes_total', 'Call minutes, by media: audio, video', {
    ...CALL_LABELS,
    media: MEDIA,
  }),
  participantMinutes: counter('callwatch_participant_minutes_total', 'Participant minutes, by media: audio, video', {
    media: MEDIA,
  }),
  corrections: counter(
    'callwatch_minutes_corrections_total',
    'Minutes by which final calls went down, by level: call, participant; never subtracted from the counters',
    { media: MEDIA, level: ['call', 'participant'] },
  ),
  invited: counter(
    'callwatch_invited_total',
    'People invited to finished calls: joined, absent; unknown: calls whose people are not known',
    { ...CALL_LABELS, outcome: INVITED },
  ),
  invitedCorrections: counter(
    'callwatch_invited_corrections_total',
    'By how much callwatch_invited_total went down; never subtracted from it',
    { outcome: INVITED },
  ),
  recorded: counter('callwatch_calls_recorded_total', 'Finished calls with a recording'),
  anomalies: counter('callwatch_call_anomalies_total', ANOMALIES.join(', '), { kind: ANOMALIES }),
  invalidItems: counter(
    'callwatch_invalid_items_total',
    `Items of a list that could not be used: ${INVALID_REASONS.join(', ')}`,
    { reason: INVALID_REASONS },
  ),
}

export const HISTOGRAMS = {
  duration: histogram(
    'callwatch_call_duration_seconds',
    'startedAt to endedAt of ended calls',
    CALL_LABELS,
    [1, 5, 10, 30, 60, 300, 600, 1800, 3600, 7200],
  ),
  answerDelay: histogram(
    'callwatch_call_answer_delay_seconds',
    'initiatedAt to startedAt of calls that were answered',
    { type: CALL_LABELS.type, receiver_type: CALL_LABELS.receiver_type },
    [1, 2, 5, 10, 15, 20, 30, 45, 60, 90],
  ),
  participants: histogram(
    'callwatch_call_participants',
    'totalParticipants of finished calls',
    CALL_LABELS,
    [1, 2, 3, 4, 6, 8, 12, 25, 50],
  ),
}

/** The key of a durable series. */
export function seriesKey({ name }: DurableCounter, ...values: readonly string[]): string {
  return [name, ...values].join('|')
}

/** Sums up the series of a counter whose label values match. */
export function sumOf(
  { counters }: { readonly counters: ReadonlyMap<string, number> },
  { name }: DurableCounter,
  matches: (labelValues: string[]) => boolean = () => true,
): number {
  let sum = 0
  for (const [key, value] of counters) {
    if (!key.startsWith(name)) continue
    const [counter, ...labelValues] = key.split('|')
    if (counter === name && matches(labelValues)) sum += value
  }
  return sum
}
