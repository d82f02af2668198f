import { useMemo } from 'preact/hooks'
import { runbookOf } from '../../../alerts/default-rules.ts'
import { FAILURES } from '../../../ledger/failure-ratio.ts'
import { formatNumber, formatSeconds, formatShare } from '../../../text/format.ts'
import { addressOf, addressOfCalls } from '../model/address.ts'
import { addressOfAlert, askedAlert, liveAlert, periodOf, valueChart, type Breakdown } from '../model/alert-page.ts'
import type { Alert, PastAlert } from '../model/api.ts'
import { bandsOf } from '../model/chart-series.ts'
import { capital, labelText, moment, momentInZone, named, secondsBetween, valueOf, zone } from '../model/format.ts'
import { nowOf, type State } from '../model/state.ts'
import { OUTCOMES, sum } from '../model/totals.ts'
import { silenceList } from './alerts.tsx'
import { Chart } from './chart.tsx'
import { badge, facts, LinkButton, Note, quiet, Section, soft, Table, words, type Column } from './layout.tsx'

/** The alert that the address names, as the history has it, and as it is now; `other` is one that fires after it has ended. */
function alertOf(state: State) {
  const alert = state.alertPage.answer?.alert
  const live = liveAlert(state)
  const since = alert?.since ?? state.query.get('since')
  const isSame = since === null || Date.parse(live?.firing_since ?? '') === Date.parse(since)
  return { alert, live: isSame ? live : undefined, other: isSame ? undefined : live }
}

/** The state of the alert, its values, and where to go from here. */
export function AlertFacts({ state }: { state: State }) {
  const { answer, problem } = state.alertPage
  const { alert, live, other } = alertOf(state)
  const shown = alert ?? live
  const title = named({ ...askedAlert(state.query), ...shown })
  return (
    <Section id="alert-facts" title={title} note={<a href={addressOf('overview')}>All alerts</a>}>
      <Note id="alert-note" problem={problem} isLoading={answer === undefined}>
        {answer !== undefined && alert === undefined && quiet(missing(live))}
      </Note>
      {shown !== undefined && factsOf(shown, alert, live, nowOf(state))}
      {other !== undefined && (
        <p>
          <a href={addressOfAlert(other, other.firing_since)}>{`Now it is ${other.state}.`}</a>
        </p>
      )}
      {shown !== undefined && <p class="links">{links(shown, live)}</p>}
    </Section>
  )
}

const missing = (live: Alert | undefined) =>
  live?.state === 'pending'
    ? 'It has not fired yet: the breach has not lasted long enough.'
    : 'No such alert fired then, or it has expired from the history.'

function factsOf(shown: PastAlert | Alert, alert: PastAlert | undefined, live: Alert | undefined, now: string) {
  const { signal, severity, breach, threshold, peak, since } = shown
  const until = alert?.until ?? null
  const calls = live?.calls ?? null
  const { match = {}, window_seconds: window } = alert ?? {}
  const measured = [signal, labelText(match), window && formatSeconds(window)].filter(Boolean).join(', ')
  return facts([
    ['Signal', measured],
    ['State', [stateOf(alert, live), ` ${severity}`]],
    ['Since', [momentInZone(since, now), ' ', soft(formatSeconds(secondsBetween(since, until ?? now)))]],
    until !== null && ['Until', momentInZone(until, now)],
    live !== undefined && ['Value', valueOf(signal, live.value)],
    ['Threshold', `${breach} ${valueOf(signal, threshold)}`],
    ['Peak', valueOf(signal, peak)],
    calls !== null && ['Calls', formatNumber(calls)],
  ])
}

function stateOf(alert: PastAlert | undefined, live: Alert | undefined) {
  if (live !== undefined) return badge(live.state, live.state === 'pending' ? '' : live.severity)
  const { outcome, expired_because: why } = alert!
  return badge(why === undefined ? (outcome ?? 'firing') : `expired: ${why}`)
}

function links(alert: PastAlert | Alert, live: Alert | undefined) {
  const { calls_url: calls, alert: name, target, labels } = alert
  const runbook = runbookOf({ name, runbookUrl: alert.runbook_url }, 'runbooks')
  const silence = addressOf('silences', { alert: name, target, ...labels })
  return [
    calls !== undefined && <LinkButton href={addressOfCalls(calls)}>Calls</LinkButton>,
    runbook !== undefined && <LinkButton href={runbook}>Runbook</LinkButton>,
    live !== undefined && <LinkButton href={silence}>Silence</LinkButton>,
  ]
}

/** The value over time; absent with too few values for a line. */
export function AlertValue({ state }: { state: State }) {
  const { alert } = alertOf(state)
  return alert !== undefined && alert.values.length > 1 && <ValueChart alert={alert} state={state} />
}

function ValueChart({ alert, state }: { alert: PastAlert; state: State }) {
  const chart = useMemo(() => valueChart(alert), [alert])
  const bands = useMemo(() => bandsOf(alert.blind, [alert], Date.parse(state.alertPage.asOf) / 1000), [alert])
  return <Chart chart={chart} state={state} bands={bands} />
}

/** The calls that the rule selects next to those of the same time last week; absent without any. */
export function AlertCalls({ state }: { state: State }) {
  const { alert, breakdown } = state.alertPage.answer ?? {}
  const period = periodOf(alert)
  if (breakdown === undefined || breakdown?.length === 0 || period === undefined) return false
  const now = nowOf(state)
  const { reason = 'any' } = alert!
  const failures = FAILURES.filter((status) => reason === 'any' || status === reason)
  const callsOf = (row: Breakdown['lastWeek']) => sum(OUTCOMES, (outcome) => row?.calls[outcome] ?? 0)
  const failed = (row: Breakdown['lastWeek']) => sum(failures, (outcome) => row?.calls[outcome] ?? 0)
  const ratio = (row: Breakdown['lastWeek']) => (callsOf(row) === 0 ? '–' : formatShare(failed(row) / callsOf(row)))
  const kind = (of: 'type' | 'mode' | 'receiver_type') => (one: Breakdown) => (one.now ?? one.lastWeek)?.[of]
  const columns: Column<Breakdown>[] = [
    ['Type', kind('type')],
    ['Mode', kind('mode')],
    ['Receiver', kind('receiver_type')],
    ['Calls', (one) => formatNumber(callsOf(one.now)), 'number'],
    [reason === 'any' ? 'Failed' : capital(reason), (one) => formatNumber(failed(one.now)), 'number'],
    ['Ratio', (one) => ratio(one.now), 'number'],
    ['Calls last week', ({ lastWeek }) => (lastWeek === null ? '–' : formatNumber(callsOf(lastWeek))), 'number'],
    ['Ratio last week', ({ lastWeek }) => ratio(lastWeek), 'number'],
  ]
  const items = (breakdown ?? []).toSorted((a, b) => failed(b.now) - failed(a.now))
  const isUnknown = items.some(({ lastWeek }) => lastWeek === null)
  const comparison = isUnknown ? 'not all calls of last week are known' : 'next to last week'
  const times = `finished from ${moment(period.since, now)} to ${moment(period.until, now)} ${zone(now)}, ${comparison}`
  return (
    <Section id="alert-calls" title="Its calls" note={soft(times)}>
      {breakdown === null && quiet('The calls could not be loaded.')}
      {items.length > 0 && (
        <Table
          caption="Calls by type, mode and receiver type, the most failures first"
          columns={columns}
          items={items}
        />
      )}
    </Section>
  )
}

/** Who was notified when, and what was withheld. */
export function AlertNotifications({ state }: { state: State }) {
  const { alert } = alertOf(state)
  if (alert === undefined) return false
  const { notified, suppressed } = alert
  const now = nowOf(state)
  const columns: Column<PastAlert['notified'][number]>[] = [
    [`When (${zone(now)})`, ({ at }) => moment(at, now)],
    ['Receiver', ({ receiver }) => receiver],
    ['Message', ({ kind }) => kind],
    ['Outcome', ({ outcome }) => outcome],
  ]
  const withheld: Column<PastAlert['suppressed'][number]>[] = [
    [`Withheld (${zone(now)})`, ({ at }) => moment(at, now)],
    ['By', ({ by, silence }) => (silence === undefined ? by.replace('_', ' ') : `silence ${silence}`)],
    ['Until', ({ until }) => (until === undefined ? '–' : moment(until, now))],
    ['Why', ({ reason, alert, target }) => words(reason ?? [alert, target].filter(Boolean).join(', '))],
  ]
  return (
    <Section id="alert-notified" title="Notifications">
      <Table
        caption="Who was notified when"
        columns={columns}
        items={notified}
        empty={alert.until === null ? 'No receiver was notified yet.' : 'No receiver was notified.'}
      />
      {suppressed.length > 0 && <Table caption="What was withheld" columns={withheld} items={suppressed} />}
    </Section>
  )
}

/** The active silences that match the alert; absent without any. */
export function AlertSilences({ state }: { state: State }) {
  const ids = alertOf(state).live?.silences ?? []
  const matching = (state.snapshot?.silences ?? []).filter(({ id }) => ids.includes(id))
  if (matching.length === 0) return false
  return (
    <Section id="alert-silences" title="Silences" note={<a href={addressOf('silences')}>All silences</a>}>
      {silenceList(matching, nowOf(state))}
    </Section>
  )
}
