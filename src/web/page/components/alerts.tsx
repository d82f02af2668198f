import { runbookOf } from '../../../alerts/default-rules.ts'
import { formatNumber, formatSeconds } from '../../../text/format.ts'
import { addressOf, addressOfCalls } from '../model/address.ts'
import { addressOfAlert } from '../model/alert-page.ts'
import { alertGroups, type AlertGroup, type ShownAlert } from '../model/alert-groups.ts'
import type { Alert, PastAlert, Silence } from '../model/api.ts'
import { labelText, moment, momentInZone, named, secondsBetween, valueOf, zone } from '../model/format.ts'
import { staleTargets } from '../model/notices.ts'
import { silencesIn } from '../model/silences.ts'
import { nowOf, type State } from '../model/state.ts'
import { shownTargets } from '../model/totals.ts'
import { findTargets } from '../model/overview.ts'
import { badge, Button, rowOf, Section, soft, Table, type Column } from './layout.tsx'

/** As many alerts of a rule are shown, the worst ones. */
const MOST_OF_A_RULE = 10

/** The alerts that are pending or firing, by rule; absent without any. */
export function Alerts({ state }: { state: State }) {
  const [groups, now] = [alertGroups(state), nowOf(state)]
  if (groups.length === 0) return false
  const stale = new Set(staleTargets(state).map(({ name }) => name))
  // The state of an alert is current; its values are as old as the last poll.
  const value = ({ signal, target }: Alert, of: number) =>
    stale.has(target) ? <span class="old">{valueOf(signal, of)}</span> : valueOf(signal, of)
  const columns: Column<ShownAlert>[] = [
    ['Alert', ({ alert }) => nameOf(alert)],
    ['State', stateOf, 'state'],
    ['Value', ({ alert }) => value(alert, alert.value)],
    ['Threshold', ({ alert: { signal, breach, threshold } }) => `${breach} ${valueOf(signal, threshold)}`],
    ['Peak', ({ alert }) => value(alert, alert.peak)],
    ['Calls', ({ alert }) => callsOf(alert)],
    [
      `Since (${zone(now)})`,
      ({ alert: { since } }) => [moment(since, now), ' ', soft(formatSeconds(secondsBetween(since, now)))],
    ],
  ]
  return (
    <Section id="alerts" title="Alerts">
      {incidentsOf(state).map(({ severity, summary, details }) => (
        <p class="incident">
          {badge(severity, severity)} <strong>{summary}</strong> {soft(details.join(' · '))}
        </p>
      ))}
      <Table caption="Alerts that are pending or firing, by rule, silenced ones last" columns={columns} items={[]}>
        {groups.map((group) => [
          group.alerts.length > 1 && headOf(group, columns.length, shownTargets(state).length),
          group.alerts
            .slice(0, MOST_OF_A_RULE)
            .map((one) => rowOf(one, columns, one.waits === '' ? toneOf(one.alert) : '')),
        ])}
      </Table>
    </Section>
  )
}

/** Those on several targets: of a single one, the table says the same. */
const incidentsOf = ({ snapshot }: State) => snapshot?.incidents.filter(({ targets }) => targets.firing > 1) ?? []

const toneOf = (alert: Alert) => (alert.state === 'pending' ? '' : alert.severity)

const stateOf = ({ alert, waits }: ShownAlert) => [
  badge(alert.state, toneOf(alert)),
  ` ${alert.severity} `,
  waits !== '' && soft(waits),
]

/** Says on how many targets a rule has alerts, above the worst ones. */
function headOf({ name, alerts }: AlertGroup, columns: number, all: number) {
  const targets = new Set(alerts.map(({ alert }) => alert.target)).size
  const on = targets === 1 ? '' : ` on ${formatNumber(targets)} of ${formatNumber(all)} targets`
  const isCut = alerts.length > MOST_OF_A_RULE
  return (
    <tr>
      <th scope="rowgroup" colSpan={columns}>
        {`${name}: ${formatNumber(alerts.length)} alerts${on}`}
        {isCut && [
          soft(`, the ${MOST_OF_A_RULE} worst `),
          <Button onClick={() => findTargets(name)}>All targets with it</Button>,
        ]}
      </th>
    </tr>
  )
}

function nameOf({ alert, target, labels, runbook_url, firing_since }: Alert) {
  const href = addressOf('silences', { alert, target, ...labels })
  const runbook = runbookOf({ name: alert, runbookUrl: runbook_url }, 'runbooks')
  return [
    <a href={addressOfAlert({ alert, target, labels }, firing_since)}>{alert}</a>,
    ' ',
    soft(named({ target, labels })),
    runbook !== undefined && [' ', <a href={runbook}>runbook</a>],
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
    [
      'Alert',
      (one) => [<a href={addressOfAlert(one, one.since)}>{one.alert}</a>, ' ', soft(named({ ...one, alert: '' }))],
    ],
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
        isTall
      />
    </Section>
  )
}

const unique = (texts: readonly string[]) => [...new Set(texts)].join(', ')

/** The active silences in short; absent without any. */
export function Silences({ state }: { state: State }) {
  const { active } = silencesIn(state.snapshot)
  if (active.length === 0) return false
  const note = <a href={addressOf('silences', { target: state.target })}>All silences</a>
  return (
    <Section id="silences" title="Silences" note={note}>
      {silenceList(active, nowOf(state))}
    </Section>
  )
}

/** Silences in short: what each silences, until when, by whom and why. */
export const silenceList = (silences: readonly Silence[], now: string) => (
  <ul class="plain">
    {silences.map(({ id, match, until, reason, author }) => {
      const by = `${author === undefined ? '' : ` by ${author}`}${reason === '' ? '' : `: ${reason}`}`
      const end = momentInZone(until, now)
      return <li key={id}>{`${labelText(match) || 'every alert'} until ${end}${by} (silence ${id})`}</li>
    })}
  </ul>
)
