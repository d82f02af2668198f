import { formatNumber, formatSeconds, plural } from '../../../text/format.ts'
import { addressOf, changedAddress } from '../model/address.ts'
import { addressOfAlert } from '../model/alert-page.ts'
import { alertGroups, selectedAlerts, type AlertGroup } from '../model/alert-groups.ts'
import type { Alert, PastAlert } from '../model/api.ts'
import { moment, named, secondsBetween, valueOf, zone } from '../model/format.ts'
import { staleTargets } from '../model/notices.ts'
import { nowOf, type State } from '../model/state.ts'
import { shownTargets } from '../model/totals.ts'
import { badge, LinkButton, Section, soft, stateBadges, Table, toneOf, type Column } from './layout.tsx'

/** The alerts that are pending or firing: a row for each rule, or for each alert that the address selects. */
export function Alerts({ state }: { state: State }) {
  const [groups, now] = [alertGroups(state), nowOf(state)]
  const isSelected = selectedAlerts(state) !== undefined
  const stale = new Set(staleTargets(state).map(({ name }) => name))
  const all = shownTargets(state).length
  // The state of an alert is current; its values are as old as the last poll.
  const value = ({ signal, target }: Alert, of: number) =>
    stale.has(target) ? <span class="old">{valueOf(signal, of)}</span> : valueOf(signal, of)
  const columns: Column<AlertGroup>[] = [
    ['Alert', (group) => nameOf(group, all)],
    ['State', statesOf, 'state'],
    ['Value', ({ worst }) => value(worst, worst.value), 'number'],
    ['Threshold', ({ worst: { signal, breach, threshold } }) => `${breach} ${valueOf(signal, threshold)}`, 'number'],
    ['Peak', ({ worst }) => value(worst, worst.peak), 'number'],
    ['Calls', ({ worst: { calls } }) => (calls === null ? '–' : formatNumber(calls)), 'number'],
    [
      `Since (${zone(now)})`,
      ({ since }) => [moment(since, now), ' ', soft(formatSeconds(secondsBetween(since, now)))],
      'number',
    ],
  ]
  const note = isSelected ? (
    <LinkButton href={addressOf('alerts')}>All alerts</LinkButton>
  ) : (
    soft('of several, the worst one that fires')
  )
  return (
    <Section id="alerts" title={isSelected ? plural(groups.length, 'alert') : 'Alerts'} note={note}>
      <Table
        caption="Alerts that are pending or firing, by rule, silenced ones last"
        columns={columns}
        items={groups}
        empty={isSelected ? 'None of these alerts is pending or firing now.' : 'No alert is pending or firing.'}
        look={({ worst, isQuiet }) => (isQuiet ? '' : toneOf(worst))}
      />
    </Section>
  )
}

const statesOf = ({ alerts, worst, waits }: AlertGroup) => [
  stateBadges(alerts, worst.severity),
  `${worst.severity} `,
  waits !== '' && soft(waits),
]

/** A link to the alert, or to all alerts of this rule. */
function nameOf({ alerts, worst }: AlertGroup, all: number) {
  const name = worst.alert
  if (alerts.length === 1) {
    return [<a href={addressOfAlert(worst, worst.firing_since)}>{name}</a>, ' ', soft(named({ ...worst, alert: '' }))]
  }
  const targets = new Set(alerts.map(({ target }) => target)).size
  const on = targets === 1 ? `on ${worst.target}` : `on ${formatNumber(targets)} of ${formatNumber(all)} targets`
  return [
    <a href={changedAddress({ alert: name })}>{name}</a>,
    ' ',
    soft(`${formatNumber(alerts.length)} alerts ${on}`),
  ]
}

/** As many are shown. */
const MOST = 50

/** The alerts of the last seven days that have ended, newest first; absent without any. */
export function PastAlerts({ state }: { state: State }) {
  const { pastAlerts, target } = state
  const alerts = pastAlerts.filter((one) => one.until !== null && (target === '' || one.target === target))
  if (alerts.length === 0) return false
  const shown = `${alerts.length > MOST ? `the newest ${MOST} of ` : ''}${formatNumber(alerts.length)}`
  return (
    <Section id="past-alerts" title="Past alerts" note={soft(`${shown} in the last 7 days`)}>
      <EpisodeTable
        caption="Alerts that resolved or expired, newest first"
        episodes={alerts.slice(0, MOST)}
        now={nowOf(state)}
      />
    </Section>
  )
}

/** An alert that fired, as a link to it. */
export const EPISODE: Column<PastAlert> = [
  'Alert',
  (one) => [<a href={addressOfAlert(one, one.since)}>{one.alert}</a>, ' ', soft(named({ ...one, alert: '' }))],
]

/** How long alerts fired, how bad they were, how they ended and who was notified. */
export function EpisodeTable(props: { caption: string; episodes: readonly PastAlert[]; now: string }) {
  const { caption, episodes, now } = props
  const columns: Column<PastAlert>[] = [
    EPISODE,
    [`Fired (${zone(now)})`, ({ since }) => moment(since, now)],
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
        why === undefined ? (outcome ?? 'fires') : `expired: ${why}`,
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
  return <Table caption={caption} columns={columns} items={episodes} isTall />
}

const unique = (texts: readonly string[]) => [...new Set(texts)].join(', ')
