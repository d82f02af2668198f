import type { ComponentChildren } from 'preact'
import type { AlertMatch } from '../../../alerts/match-keys.ts'
import { runbookOf } from '../../../alerts/runbook.ts'
import { FAILURES } from '../../../ledger/failure-ratio.ts'
import { capital, formatNumber, formatShare, plural } from '../../../text/format.ts'
import { addressOf, addressOfCalls } from '../model/address.ts'
import { addressOfIncident } from '../model/alerts/alert-rows.ts'
import { addressOfAlert } from '../model/alerts/alert-page.ts'
import type { Alert, Incident, Target } from '../model/api.ts'
import { inZone, labelText, named, valueOf } from '../model/format.ts'
import { MOST_INCIDENTS, shownIncidents, type ShownIncident, type WorstLine } from '../model/alerts/incidents.ts'
import { addressOfIncidentPage } from '../model/alerts/incident-page.ts'
import { noCallsYet, polledTargets } from '../model/notices.ts'
import { ROWS } from '../model/steady.ts'
import { nowOf, type State } from '../model/state.ts'
import { isPolled, mainRatio, shownAlerts, shownTargets } from '../model/totals.ts'
import { badge, bar, coloured, LinkButton, soft, sparkline } from './layout.tsx'
import { squares } from './alerts/squares.tsx'

/** What is wrong, in a sentence for each incident; a line that says so where nothing is. */
export function Head({ state }: { state: State }) {
  const shown = shownIncidents(state)
  const others = shown.length - MOST_INCIDENTS
  return (
    <section id="head" aria-label="What is wrong now">
      {shown.length === 0 && (
        <p class="calm">
          <span class="dot" style={coloured(isCalm(state) ? 'good' : 'warning')} />
          {calmText(state)}
        </p>
      )}
      {shown.slice(0, MOST_INCIDENTS).map((one) => incidentCard(state, one, listOf(one)))}
      {others > 0 && (
        <p>
          <LinkButton href={addressOf('alerts')}>{`${plural(others, 'more incident')}: all alerts`}</LinkButton>
        </p>
      )}
    </section>
  )
}

/** The incident that the address selects, above the list of its targets. */
export const SelectedIncident = ({ state }: { state: State }) =>
  shownIncidents(state)
    .filter(({ incident }) => labelText(incident.group) === state.query.get('incident'))
    .map((one) => incidentCard(state, one))

const isCalm = (state: State) =>
  polledTargets(state).length === shownTargets(state).length && shownAlerts(state).length === 0

function calmText(state: State) {
  const targets = shownTargets(state)
  const polled = polledTargets(state).length
  const all = targets.length === 1 ? targets[0]!.name : `All ${formatNumber(targets.length)} targets`
  if (!targets.some(isPolled)) return 'Nothing is known yet.'
  const waiting = shownAlerts(state).length
  const pending = waiting === 0 ? '' : `, ${plural(waiting, 'alert')} pending`
  // The list says which ones are not polled.
  if (polled < targets.length) return `No alert fires${pending}.`
  const is = targets.length === 1 ? 'is' : 'are'
  return `No alert fires${pending}. ${noCallsYet(state) ?? `${all} ${is} polled; ${failedText(targets)}.`}`
}

/** `18% of 4,120 calls failed in 15m, highest: shop-01, 24% of 40 ringing calls (threshold of HighFailureRate: 30%)`. */
function failedText(targets: Target[]) {
  const { window = '', calls = 0, any, rule, highest } = mainRatio(targets) ?? {}
  if (any === undefined)
    return `${rule ? `too few calls for ${rule.name}` : plural(calls, 'finished call')} in ${window}`
  const where = highest === undefined ? '' : `, highest: ${highest}`
  const limit = rule ? ` (threshold of ${rule.name}: ${formatShare(rule.threshold)})` : ''
  return `${formatShare(any)} of ${plural(calls, 'call')} failed in ${window}${where}${limit}`
}

/** @param list of the incident's targets; absent above a table of them */
export function incidentCard(state: State, shown: ShownIncident, list?: ComponentChildren) {
  const { snapshot } = state
  const { incident, lead, lines, targets, waits, isQuiet, isBeyond, match } = shown
  const { severity, group } = incident
  const now = nowOf(state)
  const summary = inZone(incident.summary, now)
  const details = incident.details.map((one) => ({ ...one, text: inZone(one.text, now) }))
  const reasons = list === undefined ? [] : shown.reasons
  const tone = !isQuiet && isBeyond ? severity : ''
  return (
    <article key={JSON.stringify(group)} class={`card incident ${tone}`}>
      <div class="title">
        <h2>{lines.length > 1 ? summary : <a href={addressOfAlert(lead, lead.firing_since)}>{summary}</a>}</h2>
        {actions(lead, match)}
      </div>
      <p>
        {badge(severity, tone)} {waits !== '' && <strong>{`${waits} `}</strong>}
        {details.filter(({ about }) => about !== 'worst' && (about !== 'cause' || reasons.length === 0)).map(lineAbout)}
      </p>
      {incident.calls && sparkline(snapshot!.perMinute.targets.filter(({ name }) => targets.has(name)))}
      {squares(state, shown)}
      {list}
      {lines.length > 1 && state.view !== 'incident' && (
        <p class="soft">
          <a href={addressOfIncidentPage(lead, lead.firing_since ?? incident.since)}>The page of this incident</a>
        </p>
      )}
    </article>
  )
}

/** The reasons of an incident, or its worst alerts, where it has several, and a link to all. */
function listOf({ incident, lines, reasons, targets, others }: ShownIncident) {
  const [{ firing }, hasReasons] = [incident.targets, reasons.length > 0]
  const title = hasReasons ? 'Targets by reason' : lines[0]?.failed === null ? 'Worst' : 'Most failed calls'
  const all = `of ${formatNumber(targets.size)}`
  const byReason = reasons.map(({ reason, text, share, count }) =>
    row(reason, addressOfIncident(incident, reason), capital(text), share, count, all),
  )
  return [
    lines.length > 1 && [
      <h3>{title}</h3>,
      <ul class="plain rows" {...ROWS}>
        {hasReasons ? byReason : lines.map(lineOf)}
      </ul>,
    ],
    firing > 1 && (
      <LinkButton href={addressOfIncident(incident)}>
        {others > 0 ? `Also on ${plural(others, 'other target')}` : `All ${formatNumber(firing)} targets`}
      </LinkButton>
    ),
  ]
}

/** A line of an incident; a list says which ones are the worst. */
const lineAbout = ({ about, text }: Incident['details'][number], i: number) =>
  i === 0 ? text : <span class={`soft rest ${about}`}>{` · ${text}`}</span>

const addressOfLine = ({ live, target, alert }: WorstLine) =>
  addressOfAlert({ target, alert, labels: live?.labels ?? {} }, live?.firing_since ?? null)

type Actionable = Pick<Alert, 'alert' | 'target' | 'labels' | 'calls_url' | 'runbook_url'>

/** What can be done about an alert, or about all of its incident if that has several targets. @param match silences it; absent if it does not fire */
export function actions(alert: Actionable, match?: AlertMatch) {
  const { target = '', alert: silenced = '', ...labels } = match ?? {}
  const runbook = runbookOf({ name: alert.alert, runbookUrl: alert.runbook_url }, 'runbooks')
  const calls = new URLSearchParams(alert.calls_url?.split('?')[1])
  if (match !== undefined && target === '') calls.delete('target')
  const isOfFailures = FAILURES.some((status) => calls.get('status')?.startsWith(status))
  return (
    <span class="actions">
      {alert.calls_url !== undefined && (
        <LinkButton href={addressOfCalls(`?${calls}`)} isPrimary>
          {isOfFailures ? 'Failed calls' : 'Its calls'}
        </LinkButton>
      )}
      {match !== undefined && (
        <LinkButton
          href={addressOf('silences', match)}
          aria-label={`Silence ${named({ alert: silenced, target, labels })}`}
        >
          Silence
        </LinkButton>
      )}
      {runbook !== undefined && <LinkButton href={runbook}>Runbook</LinkButton>}
    </span>
  )
}

function lineOf(line: WorstLine) {
  const { target, alert, key, value, calls, failed, live, share } = line
  const [number, isSaid] = [formatNumber(calls ?? 0), calls === null || calls === value]
  const ofCalls = failed !== null ? `${formatNumber(failed)} of ${number}` : isSaid ? '' : number
  const name = key === alert ? target : `${target} ${key.slice(alert.length)}`
  const text = live === undefined ? formatNumber(value ?? 0) : valueOf(live, value)
  return row(`${target}|${key}`, addressOfLine(line), name, share, text, ofCalls)
}

const row = (key: string, address: string, name: string, share: number, value: string, about: string) => (
  <li key={key}>
    <a href={address}>
      <span class="name">{name}</span>
      {share > 0 && bar(share, 'bad')}
      <b>{value}</b>
      {soft(about)}
    </a>
  </li>
)
