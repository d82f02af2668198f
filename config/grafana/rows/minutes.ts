import { figure, graph } from '../panels.ts'
import { counted } from '../queries.ts'

export function minutes() {
  return [
    graph({
      title: 'Call minutes per minute',
      about: 'Call-level minutes as they are counted, about the number of calls that go on.',
      width: 8,
      stacked: true,
      queries: {
        '{{media}}': `60 * sum by (media) (rate(${counted('callwatch_call_minutes_total')}[$__rate_interval]))`,
      },
    }),
    graph({
      title: 'Participant minutes per minute',
      about: 'Participant-level minutes as they are counted: what is billed.',
      width: 8,
      stacked: true,
      queries: {
        '{{media}}': `60 * sum by (media) (rate(${counted('callwatch_participant_minutes_total')}[$__rate_interval]))`,
      },
    }),
    figure({
      title: 'Call minutes today',
      about: 'Since midnight, in the time zone of the dashboard.',
      width: 8,
      decimals: 0,
      today: true,
      queries: { '{{media}}': `sum by (media) (increase(${counted('callwatch_call_minutes_total')}[$__range]))` },
    }),
    figure({
      title: 'Participant minutes today, by target',
      about: 'Since midnight, in the time zone of the dashboard.',
      width: 24,
      decimals: 0,
      today: true,
      queries: {
        '{{target}} {{media}}': `sum by (target, media) (increase(${counted('callwatch_participant_minutes_total')}[$__range]))`,
      },
    }),
  ]
}
