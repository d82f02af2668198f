import { formatNumber, formatSeconds } from '../../../text/format.ts'
import { addressOf, addressOfCalls } from '../model/address.ts'
import type { Alert, PastAlert } from '../model/api.ts'
import { labelText, moment, momentInZone, named, secondsBetween, valueOf, zone } from '../model/format.ts'
import { staleTargets } from '../model/notices.ts'
import { silencesIn } from '../model/silences.ts'
import { nowOf, type State } from '../model/state.ts'
import { shownAlerts } from '../model/totals.ts'
import { badge, quiet, Section, soft, Table, type Column } from './layout.tsx'

/** The alerts that are pending or firing. */
export function Alerts({ state }: { state: State }) {
  const [alerts, now] = [shownAlerts(state), nowOf(state)]
  const stale = new Set(staleTargets(state).map(({ name }) => name))
  const toneOf = (alert: Alert) => (alert.state === 'pending' ? '' : alert.severity)
  const columns: Column<Alert>[] = [
    ['Alert', nameOf],
    ['State', (alert) => [badge(alert.state, toneOf(alert)), ' ', alert.severity]],
    ['Value', ({ signal, value }) => valueOf(signal, value)],
    ['Threshold', ({ signal, breach, threshold }) => `${breach} ${valueOf(signal, threshold)}`],
    ['Peak', ({ signal, peak }) => valueOf(signal, peak)],
    ['Calls', callsOf],
    [`Since (${zone(now)})`, ({ since }) => [moment(since, now), ' ', soft(formatSeconds(secondsBetween(since, now)))]],
  ]
  return (
    <Section id="alerts" title="Alerts">
      <Table
        caption="Alerts that are pending or firing"
        columns={columns}
        items={alerts}
        empty="No alert is pending or firing."
        row={(alert) => ({
          'data-alert': alert.alert,
          class: `${toneOf(alert)} ${stale.has(alert.target) ? 'stale' : ''}`,
        })}
      />
    </Section>
  )
}

function nameOf({ alert, target, labels, runbook_url }: Alert) {
  const href = addressOf('silences', { alert, target, ...labels })
  return [
    alert,
    ' ',
    soft(named({ target, labels })),
    runbook_url !== undefined && [' ', <a href={runbook_url}>runbook</a>],
    ' ',
    <a href={href} aria-label={`Silence ${named({ alert, target, labels })}`}>
      silence
    </a>,
  ]
}

function callsOf({ calls_url, calls }: Alert) {
  const text = calls === null ? undefined : formatNumber(calls)
  if (calls_url === undefined) return text ?? '–'
  return <a href={addressOfCalls(calls_url)}>{text === undefined ? 'calls' : `of ${text}`}</a>
}

/** As many are shown. */
const MOST = 50

/** The alerts of the last seven days that have ended, newest first; absent without any. */
export function PastAlerts({ state }: { state: State }) {
  const { pastAlerts, target } = state
  const alerts = pastAlerts.filter((one) => one.until !== null && (target === '' || one.target === target))
  if (alerts.length === 0) return false
  const now = nowOf(state)
  const shown = `${alerts.length > MOST ? `the newest ${MOST} of ` : ''}${formatNumber(alerts.length)}`
  const columns: Column<PastAlert>[] = [
    ['Alert', ({ alert, target, labels }) => [alert, ' ', soft(named({ target, labels }))]],
    [
      `Fired (${zone(now)})`,
      ({ calls_url, since }) =>
        calls_url === undefined ? moment(since, now) : <a href={addressOfCalls(calls_url)}>{moment(since, now)}</a>,
    ],
    [
      'How long',
      ({ since, until, blind }) => [
        formatSeconds(secondsBetween(since, until ?? now)),
        blind.length > 0 && [' ', soft('partly not seen')],
      ],
    ],
    ['Peak', ({ signal, peak }) => valueOf(signal, peak)],
    ['Threshold', ({ signal, breach, threshold }) => `${breach} ${valueOf(signal, threshold)}`],
    [
      'Outcome',
      ({ outcome, expired_because: why, severity }) => [
        why === undefined ? outcome : `expired: ${why}`,
        ' ',
        badge(severity, severity),
      ],
    ],
    [
      'Notified',
      ({ notified, suppressed }) => [
        unique(notified.flatMap(({ outcome, receiver }) => (outcome === 'sent' ? [receiver] : []))) || '–',
        suppressed.length > 0 && [' ', soft(unique(suppressed.map(({ by }) => by)))],
      ],
    ],
  ]
  return (
    <Section id="past-alerts" title="Past alerts" note={soft(`${shown} in the last 7 days`)}>
      <Table
        caption="Alerts that resolved or expired, newest first"
        columns={columns}
        items={alerts.slice(0, MOST)}
        row={({ key }) => ({ 'data-past-alert': key })}
        isTall
      />
    </Section>
  )
}

const unique = (texts: readonly string[]) => [...new Set(texts)].join(', ')

/** The active silences in short. */
export function Silences({ state }: { state: State }) {
  const { active } = silencesIn(state.snapshot)
  const note = <a href={addressOf('silences', { target: state.target })}>All silences</a>
  return (
    <Section id="silences" title="Silences" note={note}>
      {active.length === 0 && quiet('No silence is active.')}
      <ul class="plain">
        {active.map(({ id, match, until, reason, author }) => {
          const by = `${author === undefined ? '' : ` by ${author}`}${reason === '' ? '' : `: ${reason}`}`
          const end = momentInZone(until, nowOf(state))
          return <li key={id}>{`${labelText(match) || 'every alert'} until ${end}${by} (silence ${id})`}</li>
        })}
      </ul>
    </Section>
  )
}
