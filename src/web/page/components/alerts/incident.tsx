import { formatNumber, plural } from '../../../../text/format.ts'
import { addressOf } from '../../model/address.ts'
import { moment, named, zone } from '../../model/format.ts'
import {
  countsOver,
  postmortem,
  summaryOf,
  suppressionsOf,
  titleOf,
  messagesOf,
  worstFirst,
  type Together,
  type SentMessage,
} from '../../model/alerts/incident-page.ts'
import { isPart, MOST_INCIDENTS, shownIncidents } from '../../model/alerts/incidents.ts'
import { nowOf, type State } from '../../model/state.ts'
import { shownAlerts } from '../../model/totals.ts'
import { incidentCard } from '../head.tsx'
import { EpisodeTable } from './alerts.tsx'
import { coloured, LinkButton, Note, quiet, Section, soft, Table, type Column } from '../layout.tsx'

const NONE = 'No alert of this rule fired then, or it is no longer kept (store.history).'
const TOO_MANY = 'So many alerts fired around that time that this one is not among those that are loaded.'
const CUT = 'So many alerts fired around that time that earlier or later ones of this incident may be missing.'

/** An incident, also after its end: what is wrong while it fires, how many alerts fired when, which messages were sent, what suppressed it, and a text for a postmortem. */
export function IncidentPage({ state }: { state: State }) {
  const { answer, problem } = state.incidentPage
  const now = nowOf(state)
  const note = <LinkButton href={addressOf('alerts')}>All alerts</LinkButton>
  const { alerts: all, isCut } = answer ?? { alerts: [], isCut: false }
  if (all.length === 0)
    return (
      <Section id="incident-facts" title="Incident" note={note}>
        <Note id="incident-note" problem={problem} isLoading={answer === undefined}>
          {answer !== undefined && quiet(isCut ? TOO_MANY : NONE)}
        </Note>
      </Section>
    )
  const isOver = all.every(({ until }) => until !== null)
  return (
    <>
      {asOfNow(state, all)}
      <Section id="incident-facts" title={titleOf(all)} note={note}>
        <p>{summaryOf(all, now).join(' ')}</p>
        {all.length > 1 && overTime(all, now)}
        {isCut && quiet(CUT)}
      </Section>
      {messages(state, all)}
      <Section id="incident-alerts" title={plural(all.length, 'alert')}>
        <EpisodeTable
          caption="Its alerts, the worst first"
          episodes={worstFirst(all).map((one) => [one])}
          state={state}
        />
      </Section>
      {isOver && (
        <Section id="postmortem" title="For a postmortem" note={soft('Markdown')}>
          <pre tabindex={0}>{postmortem(state, all)}</pre>
        </Section>
      )}
    </>
  )
}

/** What the overview says of it while it fires. */
function asOfNow(state: State, all: Together) {
  const firing = new Set(all.filter(({ until }) => until === null).map(named))
  const live = shownAlerts(state).filter((one) => firing.has(named(one)))
  return shownIncidents(state)
    .filter(({ incident }) => live.some((one) => isPart(one, incident)))
    .slice(0, MOST_INCIDENTS)
    .map((one) => incidentCard(state, one))
}

const HEIGHT = 20

/** How many alerts fired over time; the sentence above and the table below have the numbers. */
function overTime(all: Together, now: string) {
  const counts = countsOver(all, Date.parse(now)).map(({ alerts }) => alerts)
  const highest = Math.max(...counts)
  const bars = counts.map((count, i) => `M${i + 0.5} ${HEIGHT}v${((-count * HEIGHT) / highest).toFixed(2)}`).join('')
  return (
    <div class="incident">
      <svg class="spark" viewBox={`0 0 ${counts.length} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        <path style={coloured('bad')} d={bars} />
      </svg>
    </div>
  )
}

function messages(state: State, all: Together) {
  const now = nowOf(state)
  const columns: Column<SentMessage>[] = [
    [`When (${zone(now)})`, ({ at }) => moment(at, now)],
    ['Receiver', ({ receiver }) => receiver],
    ['Message', ({ kind }) => kind],
    ['Alerts', ({ alerts }) => formatNumber(alerts), 'number'],
  ]
  const suppressed = suppressionsOf(state, all)
  return (
    <Section id="incident-messages" title="Who was notified">
      <Table
        caption="Messages, oldest first"
        columns={columns}
        items={messagesOf(all)}
        empty="Nobody was notified."
        isTall
      />
      {suppressed.length > 0 && [
        <h3>Suppressed</h3>,
        <ul class="plain">
          {suppressed.map(({ text, alerts }) => (
            <li>{`${text} (${plural(alerts, 'alert')})`}</li>
          ))}
        </ul>,
      ]}
    </Section>
  )
}
