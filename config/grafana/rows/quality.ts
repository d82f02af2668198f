import { graph } from '../panels.ts'
import { counted, countedQuantiles, T, WINDOW } from '../queries.ts'

export function quality() {
  return [
    graph({
      title: 'Answer delay',
      about: `From the ring to the answer, of the answered calls that finished in the last ${WINDOW}.`,
      width: 8,
      unit: 's',
      queries: countedQuantiles('callwatch_call_answer_delay_seconds', [0.5, 0.95, 0.99]),
    }),
    graph({
      title: 'Duration',
      about: `Of the calls that ended in the last ${WINDOW}.`,
      width: 8,
      unit: 's',
      queries: {
        ...countedQuantiles('callwatch_call_duration_seconds', [0.5, 0.95]),
        mean: `sum(rate(${counted('callwatch_call_duration_seconds_sum')}[${WINDOW}])) / sum(rate(${counted('callwatch_call_duration_seconds_count')}[${WINDOW}]))`,
      },
    }),
    graph({
      title: 'Participants in a call',
      about: `Of the calls that finished in the last ${WINDOW}.`,
      width: 8,
      queries: countedQuantiles('callwatch_call_participants', [0.5, 0.95]),
    }),
    graph({
      title: 'Transitions per minute',
      about: 'Steps of calls from one status to the next; "none" is before a call was first seen.',
      width: 16,
      queries: {
        '{{from}} → {{to}}': `60 * sum by (from, to) (rate(${counted('callwatch_call_transitions_total')}[$__rate_interval]))`,
      },
    }),
    graph({
      title: 'Inferred transitions',
      about:
        'Share of the steps that happened between two looks and were inferred. Where it is high, a shorter poll.interval would see more.',
      width: 8,
      unit: 'percentunit',
      most: 1,
      queries: {
        inferred: `sum(rate(${counted('callwatch_call_transitions_total', 'observed="false"')}[${WINDOW}])) / sum(rate(${counted('callwatch_call_transitions_total')}[${WINDOW}]))`,
      },
    }),
  ]
}

export function oddities() {
  const inTheHour = (metric: string, by: string) => `sum by (${by}) (increase(${counted(metric)}[1h]))`
  return [
    graph({
      title: 'Anomalies, last hour',
      about: 'What the service said that cannot be, or took back, by kind. docs/semantics.md says what each means.',
      width: 8,
      queries: { '{{kind}}': inTheHour('callwatch_call_anomalies_total', 'kind') },
    }),
    graph({
      title: 'Corrections in minutes, last hour',
      about: 'Minutes by which totals of final calls went down; never subtracted from the counters.',
      width: 8,
      queries: { '{{level}} {{media}}': inTheHour('callwatch_minutes_corrections_total', 'level, media') },
    }),
    graph({
      title: 'Lost and reappeared, last hour',
      about: 'Open calls that the service no longer knows, and those of them that came back.',
      width: 8,
      queries: {
        '{{target}} lost': inTheHour('callwatch_calls_lost_total', 'target'),
        '{{target}} reappeared': inTheHour('callwatch_calls_reappeared_total', 'target'),
      },
    }),
    graph({
      title: 'Items that could not be used, last hour',
      about: 'Entries of the list without what makes a call.',
      width: 8,
      queries: { '{{reason}}': inTheHour('callwatch_calls_rejected_total', 'reason') },
    }),
    graph({
      title: 'Calls not counted on purpose',
      about: 'In the last whole listing: over before callwatch was set up, or older than it remembers.',
      width: 8,
      queries: { '{{reason}}': `sum by (reason) (max by (target, reason) (callwatch_calls_ignored{${T}}))` },
    }),
    graph({
      title: 'Recorded, last hour',
      about: 'Finished calls with a recording.',
      width: 8,
      queries: { '{{target}}': inTheHour('callwatch_calls_recorded_total', 'target') },
    }),
  ]
}
