import { graph } from '../panels.ts'
import { callQuantiles, during, T, WINDOW } from '../queries.ts'

const invited = (outcome: string) =>
  `sum by (receiver_type) (rate(${during(WINDOW, 'callwatch_invited_total', `outcome=~"${outcome}"`)}))`

export function quality() {
  return [
    graph({
      title: 'Answer delay',
      about: `Time from the start of a call to its answer, for answered calls that finished in the last ${WINDOW}.`,
      width: 8,
      unit: 's',
      queries: callQuantiles('callwatch_call_answer_delay_seconds', [0.5, 0.95, 0.99]),
    }),
    graph({
      title: 'Duration',
      about: `Duration of the calls that ended in the last ${WINDOW}.`,
      width: 8,
      unit: 's',
      queries: {
        ...callQuantiles('callwatch_call_duration_seconds', [0.5, 0.95]),
        mean: `sum(rate(${during(WINDOW, 'callwatch_call_duration_seconds_sum')})) / sum(rate(${during(WINDOW, 'callwatch_call_duration_seconds_count')}))`,
      },
    }),
    graph({
      title: 'Participants in a call',
      about: `Participants of the calls that finished in the last ${WINDOW}.`,
      width: 8,
      queries: callQuantiles('callwatch_call_participants', [0.5, 0.95]),
    }),
    graph({
      title: 'Invited who did not join',
      about: `Share of the people invited to the calls that finished in the last ${WINDOW} who did not join.`,
      width: 8,
      unit: 'percentunit',
      max: 1,
      queries: {
        '{{receiver_type}}': `${invited('absent')} / ${invited('absent|joined')}`,
      },
    }),
    graph({
      title: 'Transitions per minute',
      about: 'Status changes of calls. "none" is the status before the first poll that saw the call.',
      width: 8,
      queries: {
        '{{from}} → {{to}}': `60 * sum by (from, to) (rate(${during('$__rate_interval', 'callwatch_call_transitions_total')}))`,
      },
    }),
    graph({
      title: 'Inferred transitions',
      about:
        'Share of the transitions that happened between two polls and were inferred. If it is high, a shorter poll.interval observes more of them.',
      width: 8,
      unit: 'percentunit',
      max: 1,
      queries: {
        inferred: `sum(rate(${during(WINDOW, 'callwatch_call_transitions_total', 'observed="false"')})) / sum(rate(${during(WINDOW, 'callwatch_call_transitions_total')}))`,
      },
    }),
  ]
}

export function anomalies() {
  const inTheHour = (metric: string, by: string) => `sum by (${by}) (increase(${during('1h', metric)}))`
  return [
    graph({
      title: 'Anomalies, last hour',
      about: 'Impossible or retracted data of the service, by kind. docs/troubleshooting.md explains each kind.',
      width: 8,
      queries: { '{{kind}}': inTheHour('callwatch_call_anomalies_total', 'kind') },
    }),
    graph({
      title: 'Corrections, last hour',
      about:
        'By how much the service reduced the minutes and the invited people of finished calls. The counters are not reduced.',
      width: 8,
      queries: {
        '{{level}} {{media}} minutes': inTheHour('callwatch_minutes_corrections_total', 'level, media'),
        '{{outcome}}': inTheHour('callwatch_invited_corrections_total', 'outcome'),
      },
    }),
    graph({
      title: 'Lost and reappeared, last hour',
      about: 'Open calls that the service no longer knows, and lost calls that it shows again.',
      width: 8,
      calls: { target: 'target' },
      queries: {
        '{{target}} lost': inTheHour('callwatch_calls_lost_total', 'target'),
        '{{target}} reappeared': inTheHour('callwatch_calls_reappeared_total', 'target'),
      },
    }),
    graph({
      title: 'Invalid items, last hour',
      about: 'Items of the list that are not a call, by reason.',
      width: 8,
      queries: { '{{reason}}': inTheHour('callwatch_invalid_items_total', 'reason') },
    }),
    graph({
      title: 'Excluded calls',
      about:
        'Calls in the last complete sweep that finished before the target was set up (baseline), or that are too old (before_horizon).',
      width: 8,
      queries: { '{{reason}}': `sum by (reason) (max by (target, reason) (callwatch_calls_excluded{${T}}))` },
    }),
    graph({
      title: 'Recorded, last hour',
      about: 'Finished calls with a recording.',
      width: 8,
      calls: { target: 'target' },
      queries: { '{{target}}': inTheHour('callwatch_calls_recorded_total', 'target') },
    }),
  ]
}
