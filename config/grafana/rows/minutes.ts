import { stat, graph } from '../panels.ts'
import { during } from '../queries.ts'

export function minutes() {
  return [
    graph({
      title: 'Call minutes per minute',
      about: 'Call-level minutes when callwatch counts them. The rate is about the number of ongoing calls.',
      width: 8,
      stacked: true,
      queries: {
        '{{media}}': `60 * sum by (media) (rate(${during('$__rate_interval', 'callwatch_call_minutes_total')}))`,
      },
    }),
    graph({
      title: 'Participant minutes per minute',
      about: 'Participant-level minutes when callwatch counts them.',
      width: 8,
      stacked: true,
      queries: {
        '{{media}}': `60 * sum by (media) (rate(${during('$__rate_interval', 'callwatch_participant_minutes_total')}))`,
      },
    }),
    stat({
      title: 'Call minutes today',
      about: 'Since midnight in the time zone of the dashboard.',
      width: 8,
      decimals: 0,
      today: true,
      queries: { '{{media}}': `sum by (media) (increase(${during('$__range', 'callwatch_call_minutes_total')}))` },
    }),
    stat({
      title: 'Participant minutes today, by target',
      about: 'Since midnight in the time zone of the dashboard.',
      width: 24,
      decimals: 0,
      today: true,
      calls: { target: 'target' },
      queries: {
        '{{target}} {{media}}': `sum by (target, media) (increase(${during('$__range', 'callwatch_participant_minutes_total')}))`,
      },
    }),
  ]
}
