import type { ComponentChildren } from 'preact'
import { useMemo } from 'preact/hooks'
import { isBeyond, withinText } from '../../../../alerts/signal.ts'
import { capital, formatSeconds, plural } from '../../../../text/format.ts'
import { addressOf } from '../../model/address.ts'
import { addressOfIncident } from '../../model/alerts/alert-rows.ts'
import { addressOfAlert, alertOf, askedAlert, breachOf, failingFor, valueChart } from '../../model/alerts/alert-page.ts'
import type { Alert, PastAlert } from '../../model/api.ts'
import { inZone, labelText, moment, momentInZone, named, secondsBetween, valueOf } from '../../model/format.ts'
import { isPart, matchOfAlert, reasonOf, ruleOf, suppressedBy } from '../../model/alerts/incidents.ts'
import { nowOf, type State } from '../../model/state.ts'
import { isUnknown, toneOf } from '../../model/totals.ts'
import { AlertNext } from './alert-next.tsx'
import { Chart } from '../chart.tsx'
import { AlertSiblings, AlertTimeline } from './alert-timeline.tsx'
import { actions } from '../head.tsx'
import { badge, facts, Note, quiet, soft, stateBadge } from '../layout.tsx'
import { AlertCalls, AlertNewest, AlertOutcomes } from './alert-calls.tsx'

/** What is wrong in a sentence, who is silenced, the cause, the numbers, and what can be done. */
export function AlertFacts({ state }: { state: State }) {
  const { answer, problem } = state.alertPage
  const { alert, live, other } = alertOf(state)
  const shown = alert ?? live
  const name = named({ ...askedAlert(state.query), ...shown })
  const suppressed = live?.suppressed ?? []
  return (
    <section
      id="alert-facts"
      class={`card incident ${suppressed.length > 0 ? '' : toneOf(live)}`}
      aria-labelledby="alert-title"
    >
      <p class="soft crumb">
        <a href={addressOf('overview')}>Overview</a>
        {` / ${name}`}
      </p>
      <div class="title">
        <h2 id="alert-title">{shown === undefined ? name : sentenceOf(state, shown, live)}</h2>
        {shown !== undefined && actions(shown, matchOfAlert(state, live))}
      </div>
      {suppressed.length > 0 && (
        <ul id="alert-suppressed" class="banner progress">
          {suppressed.map(suppressedBy(state)).map(({ what, more, why }) => (
            <li>{`${capital(what)} ${more}${why}`}</li>
          ))}
        </ul>
      )}
      <Note id="alert-note" problem={problem} isLoading={answer === undefined}>
        {answer !== undefined && alert === undefined && quiet(missing(state, live))}
      </Note>
      {linesOf(state).map((line) => line && <p>{line}</p>)}
      {ruleLines(alert, live)}
      {shown !== undefined && alertFacts(state, shown)}
      {other !== undefined && <a href={addressOfAlert(other, other.firing_since)}>{`Now it is ${other.state}.`}</a>}
    </section>
  )
}

function missing(state: State, live: Alert | undefined) {
  const { query, snapshot } = state
  if (live?.fires_at !== undefined) return pendingText(live, live.fires_at, snapshot!.now)
  if (live !== undefined) return 'Its history is not loaded yet.'
  const { target, alert } = askedAlert(query)
  if (isUnknown({ ...state, target })) return `There is no target ${target}, or no daemon has loaded it yet.`
  if (query.has('since')) return 'No such alert fired then, or it has expired from the history.'
  if (ruleOf(state, { target, alert }).name === undefined) return `${target} has no rule ${alert}.`
  return 'It is neither pending nor firing, and has not fired in 7 days.'
}

/** `Pending: above 45% since 10:42:00 UTC. It fires at about 10:42:30 UTC if it stays so.` */
function pendingText({ breach, threshold, since, ...live }: Alert, firesAt: string, now: string) {
  const when = firesAt > now ? `at about ${momentInZone(firesAt, now)}` : 'after the next poll'
  return `Pending: ${breach} ${valueOf(live, threshold)} since ${momentInZone(since, now)}. It fires ${when} if it stays so.`
}

/** As messages say it where they can; of an alert that is part of something larger, or has ended, of it alone. */
function sentenceOf(state: State, shown: PastAlert | Alert, live: Alert | undefined) {
  const incident = incidentOf(state, live)
  const { target, alert, peak, breach } = shown
  if (incident?.targets.firing === 1) return inZone(incident.summary, nowOf(state))
  if (live !== undefined) return inZone(live.summary, nowOf(state))
  return `${target}: ${alert}, ${breach === 'above' ? 'peak' : 'lowest'} ${valueOf(shown, peak)}`
}

/** The incident that the alert is part of. */
const incidentOf = ({ snapshot }: State, live: Alert | undefined) =>
  live && snapshot?.incidents.find((one) => isPart(live, one))

/** What is said of the alert as of its incident. */
const OF_ALERT = ['cause', 'mostly', 'others']

/** Of how many targets it is one, and why, if that is known: the problem of the target, and the cause of the incident; and what a value within its threshold waits for. */
function linesOf(state: State): ComponentChildren[] {
  const { live } = alertOf(state)
  const problem = live ? reasonOf(state, live) : ''
  const incident = incidentOf(state, live)
  const isOwn = (text: string) => text.split(/: |, | on /).includes(live!.alert)
  const details = incident?.details.filter(({ about }) => OF_ALERT.includes(about)) ?? []
  const lines = details.filter(({ about, text }) => about !== 'others' || !isOwn(text))
  return [
    incident !== undefined &&
      incident.targets.firing > 1 && [
        `One of ${plural(incident.targets.firing, 'target')}: `,
        <a href={addressOfIncident(incident)}>all alerts of the incident</a>,
      ],
    // The cause may be the same.
    problem !== '' && !lines.some(({ text }) => text.includes(problem)) && `${capital(problem)}.`,
    ...lines.map(({ text }) => `${inZone(text, nowOf(state))}.`),
    live !== undefined && !isBeyond(live, live.value, live.threshold) && notResolvedText(live),
  ]
}

/** The description of its rule, which is of now, and when it fires. */
function ruleLines(alert: PastAlert | undefined, live: Alert | undefined) {
  return [live?.description !== undefined && <p>{live.description}</p>, alert && quiet(`Rule: ${alert.rule}.`)]
}

function notResolvedText(live: Alert) {
  const { state, value, breach, threshold, clear } = live
  const cleared = `${valueOf(live, clear)} or ${breach === 'above' ? 'less' : 'more'}`
  return state === 'recovering'
    ? `The value has cleared: the alert resolves if it stays at ${cleared}.`
    : `${valueOf(live, value)}: ${withinText(breach, valueOf(live, threshold))}. It clears at ${cleared}.`
}

const fact = (name: string, value: ComponentChildren, about: string | false = false) =>
  [name, [value, about && [' ', soft(about)]]] as const

function alertFacts(state: State, shown: PastAlert | Alert) {
  const { alert, live } = alertOf(state)
  const now = nowOf(state)
  const { signal, severity, breach, threshold } = shown
  const since = live ? live.began : shown.since
  const until = alert?.until ?? null
  // What is loaded is older than what the stream says.
  const worst = valueOf(shown, (live ?? shown).peak)
  const name = breach === 'above' ? 'Peak' : 'Lowest'
  return facts([
    fact('State', badgeOf(alert, live), severity),
    fact(live ? 'Since' : 'Fired', momentInZone(since, now), formatSeconds(secondsBetween(since, until ?? now))),
    until !== null && fact('Until', momentInZone(until, now)),
    live
      ? fact('Value', valueOf(live, live.value), `${callsText(alert, live, now)}${name.toLowerCase()} ${worst}`)
      : fact(name, worst),
    fact('Threshold', `${breach} ${valueOf(shown, threshold)}`, live && `clears at ${valueOf(live, live.clear)}`),
    expectedFact(live),
    fact('Signal', signal, signalText(alert)),
    alert !== undefined && notifiedFact(state, alert),
  ])
}

/** What the value is relative to: `91 (96, 88, 101, 94 at the same time before)`. */
function expectedFact(live: Alert | undefined) {
  if (live?.compared === undefined) return false
  const { signal } = live
  const { now, earlier, expected } = live.compared
  const [is, ...then] = [expected, ...earlier].map((value) => valueOf({ signal }, value))
  return fact('Expected', is, `${then.join(', ')} at the same time before; now ${valueOf({ signal }, now)}`)
}

const windowText = (alert: PastAlert | undefined) => (alert?.window_seconds ? formatSeconds(alert.window_seconds) : '')

const signalText = (alert: PastAlert | undefined) =>
  alert && [labelText(alert.match), windowText(alert)].filter(Boolean).join(', ')

/** `of 40 calls in 15m; `; empty for a value without calls. Begins with the time of a value from before. */
function callsText(alert: PastAlert | undefined, { calls, held }: Alert, now: string) {
  const window = windowText(alert)
  const at = held ? `at ${momentInZone(held.since, now)}; ` : ''
  return `${at}${calls ? `of ${plural(calls, 'call')}${window && ` in ${window}`}; ` : ''}`
}

function notifiedFact(state: State, alert: PastAlert) {
  const now = nowOf(state)
  const sent = alert.notified
  const names = [...new Set(sent.map(({ receiver }) => receiver))].join(', ')
  const failing = failingFor(state, alert).map(
    ({ name, failing_since: since = now }) => `${name} fails since ${moment(since, now)}`,
  )
  const about = [...(sent[0] ? [moment(sent[0].at, now)] : []), ...failing].join('; ')
  const { live } = alertOf(state)
  const isUntold = live && alert.notified.length === 0 && !live.suppressed?.length
  // A change also waits for its group.
  const waits = isUntold && state.snapshot?.receivers?.some(({ pending }) => pending > 0)
  return fact('Notified', names || (waits ? 'not yet' : 'nobody'), about)
}

function badgeOf(alert: PastAlert | undefined, live: Alert | undefined) {
  if (live !== undefined) return stateBadge(live.state, live)
  const { outcome, expired_because: why } = alert!
  return badge(why === undefined ? (outcome ?? 'firing') : `expired: ${why}`)
}

/** What is known of the alert besides: in two columns where there is room. */
export const AlertBody = ({ state }: { state: State }) => (
  <div class="columns">
    <div>
      {[AlertValue, AlertOpen, AlertCalls, AlertNewest].map((Part) => (
        <Part state={state} />
      ))}
    </div>
    <div>
      {[AlertNext, AlertOutcomes, AlertTimeline, AlertSiblings].map((Part) => (
        <Part state={state} />
      ))}
    </div>
  </div>
)

/** The value over time; absent with too few values for a line. */
function AlertValue({ state }: { state: State }) {
  const { alert, around = [] } = state.alertPage.answer ?? {}
  const values = [...around.map(([, value]) => value), ...(alert?.values ?? []).map(({ value }) => value)]
  return (
    alert !== undefined &&
    values.filter((value) => value !== null).length > 1 && <ValueChart alert={alert} state={state} />
  )
}

/** The calls that were open meanwhile; absent of an alert that is not about such. */
function AlertOpen({ state }: { state: State }) {
  const { open } = state.alertPage.answer ?? {}
  return open !== undefined && <Chart chart={open} state={state} />
}

function ValueChart({ alert, state }: { alert: PastAlert; state: State }) {
  const { answer, asOf } = state.alertPage
  const { live } = alertOf(state)
  const now = Date.parse(asOf) / 1000
  const chart = useMemo(
    () => valueChart({ alert, around: answer?.around, live, breach: breachOf(state), now }),
    [answer, live?.since],
  )
  return <Chart chart={chart} state={state} />
}
