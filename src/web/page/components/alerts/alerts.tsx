import { formatNumber, formatSeconds, plural } from '../../../../text/format.ts'
import { addressOf, changedAddress } from '../../model/address.ts'
import { addressOfAlert } from '../../model/alerts/alert-page.ts'
import { alertRows, selectedAlerts, type AlertRow } from '../../model/alerts/alert-rows.ts'
import type { Alert, PastAlert } from '../../model/api.ts'
import { moment, named, secondsBetween, valueOf, zone } from '../../model/format.ts'
import { addressOfIncidentPage, endOf, peakOf, togetherOf, type Together } from '../../model/alerts/incident-page.ts'
import { callsOf, ownAlerts, waitsFor, waitsText, WORDS } from '../../model/alerts/incidents.ts'
import { change, nowOf, type State } from '../../model/state.ts'
import { searched, sorted, WINDOW } from '../../model/steady.ts'
import { shownTargets, toneOf } from '../../model/totals.ts'
import { Search } from '../fields.tsx'
import { badge, Button, LinkButton, Section, soft, stateBadges, Table, type Column } from '../layout.tsx'

const STATES = ['firing', 'recovering', 'pending']
const NONE_OF_THESE = 'None of these alerts is pending or firing now, or none for this reason.'

/** The alerts that are pending or firing: a row for each rule, for each target of the incident that the address selects, or for each alert of its rule. */
export function Alerts({ state }: { state: State }) {
  const [groups, now, why] = [alertRows(state), nowOf(state), waitsFor(state)]
  const isSelected = selectedAlerts(state) !== undefined
  // AtRest says that there is none.
  if (groups.length === 0 && !isSelected) return false
  const [rule, reason] = ['alert', 'reason'].map((name) => state.query.get(name) ?? '')
  const inOrder = sorted(state.query, groups, RANKS)
  const found = searched(state, inOrder, (group) => ({
    names: group.map((one) => named(one)),
    states: group.map((one) => one.state),
  }))
  const [all, noun] = [shownTargets(state).length, state.query.has('incident') ? 'target' : 'alert']
  // The state of an alert is of now; its value may be from before.
  const value = (alert: Alert, of: number) =>
    alert.held === undefined ? (
      valueOf(alert, of)
    ) : (
      <span class="old">{`${valueOf(alert, of)} at ${moment(alert.held.since, now)}`}</span>
    )
  const columns: Column<AlertRow>[] = [
    isSelected ? ['Target', (group) => targetOf(group, rule!)] : ['Alert', (group) => ruleOf(group, all)],
    ['State', (group) => statesOf(group, ownAlerts(group).map(why)), 'state said'],
    ['Value', (group) => [isSelected || worstText(group), value(group[0]!, group[0]!.value)], 'number said'],
    ['Threshold', ([worst]) => `${worst!.breach} ${valueOf(worst!, worst!.threshold)}`, 'number said'],
    ['Peak', ([worst]) => valueOf(worst!, worst!.peak), 'number rest'],
    ['Calls', ([worst]) => callsText(worst!), isSelected ? 'number' : 'number rest'],
    [`Since (${zone(now)})`, (group) => sinceOf(group, state), 'number'],
  ]
  return (
    <Section
      id="alerts"
      title={isSelected ? [rule, plural(groups.length, noun), reason].filter(Boolean).join(': ') : 'Alerts'}
      note={isSelected && <LinkButton href={addressOf('alerts')}>All alerts</LinkButton>}
    >
      {(groups.length > WINDOW || found.text + found.is !== '') && <Search of={found} states={STATES} />}
      <Table
        caption="Alerts that are pending or firing, by rule, silenced ones last"
        columns={columns}
        items={found.rows}
        sorts={RANKS}
        query={state.query}
        empty={groups.length > 0 ? 'No alert matches.' : NONE_OF_THESE}
        look={(group) => (group.every(why) ? '' : toneOf(group[0]))}
      />
    </Section>
  )
}

/** By what the reader can sort, by the headings of the columns. */
const RANKS = {
  Target: ([worst]: AlertRow) => worst!.target,
  Value: ([worst]: AlertRow) => worst!.value,
  Peak: ([worst]: AlertRow) => worst!.peak,
  Since: (group: AlertRow) => group.map(({ began }) => began).toSorted()[0] ?? '',
}

/** The states of alerts, and of which of them nobody is notified; a phone says so of all. */
const statesOf = (group: AlertRow, reasons: readonly string[]) => [
  stateBadges(group),
  `${group[0]!.severity} `,
  <span class={reasons.every(Boolean) ? 'soft' : 'soft rest'}>{waitsText(reasons)}</span>,
]

/** How many calls an alert is about, and which of them failed. */
function callsText(alert: Alert) {
  const [{ total, failed }, all] = [callsOf(alert), alert.calls === null ? '–' : formatNumber(alert.calls)]
  return total > 0 ? `${formatNumber(failed, 0)} of ${all}` : all
}

/** Whose value it is, of several. */
const worstText = ([worst, ...others]: AlertRow) =>
  others.length > 0 && <span class="soft rest">{`worst: ${named({ ...worst!, alert: '' })} `}</span>

/** When the first one began. */
function sinceOf(group: AlertRow, state: State) {
  const now = nowOf(state)
  const [since = now] = group.map(({ began }) => began).toSorted()
  return [moment(since, now), ' ', soft(formatSeconds(secondsBetween(since, now)))]
}

/** A link to the worst alert of a target, and what tells it and others from those of other targets. */
const targetOf = (group: AlertRow, rule: string) => [
  <a href={addressOfAlert(group[0]!, group[0]!.firing_since)}>{group[0]!.target}</a>,
  ' ',
  soft(group.map((one) => named({ ...one, target: '', alert: rule === '' ? one.alert : '' })).join(' and ')),
]

/** A link to the alert, or to all alerts of this rule. */
function ruleOf(alerts: AlertRow, all: number) {
  const [worst] = alerts
  const { alert, target, firing_since: since } = worst!
  if (alerts.length === 1) return linkOf({ ...worst!, since })
  const { size } = new Set(alerts.map((one) => one.target))
  const on = size === 1 ? target : `${formatNumber(size)} of ${formatNumber(all)} targets`
  const several = size === alerts.length ? '' : `${formatNumber(alerts.length)} alerts on `
  return [<a href={changedAddress({ alert })}>{alert}</a>, ' ', soft(`${several}${on}`)]
}

/** As many rows are shown. */
const MOST = 50

/** The alerts of the last seven days that have ended, newest first; absent without any. */
export function PastAlerts({ state }: { state: State }) {
  const { pastAlerts = [], isPastCut, target } = state
  const alerts = pastAlerts.filter((one) => one.until !== null && (target === '' || one.target === target))
  if (alerts.length === 0) return false
  const all = togetherOf(alerts)
  const shown = all.slice(0, MOST)
  const newest = shown.length < all.length ? `the newest ${formatNumber(shown.flat().length)} of ` : ''
  return (
    <Section
      id="past-alerts"
      title="Past alerts"
      note={soft(`${newest}${formatNumber(alerts.length)}${isPastCut ? ' or more' : ''} in the last 7 days`)}
    >
      <EpisodeTable caption="Alerts that resolved or expired, newest first" episodes={shown} state={state} />
    </Section>
  )
}

/** How long alerts fired, how bad they were, how they ended and who was notified: those of a rule and a time in a row, which opens. */
export function EpisodeTable(props: {
  caption: string
  episodes: readonly Together[]
  state: State
  /** Without how they ended and who was notified. */
  isShort?: boolean
}) {
  const { caption, episodes, state, isShort = false } = props
  const now = nowOf(state)
  const items = episodes.flatMap((all) => [
    all,
    ...(all.length > 1 && state.openEpisodes === keyOf(all) ? all.toReversed().map((one) => [one]) : []),
  ])
  const columns: Column<Together>[] = [
    ['Alert', (all) => (all.length === 1 ? linkOf(all[0]!) : togetherText(all, state))],
    [`Fired (${zone(now)})`, ([first]) => moment(first!.since, now)],
    [
      'How long',
      (all) => [
        formatSeconds((Math.min(Date.parse(now), Math.max(...all.map(endOf))) - Date.parse(all[0]!.since)) / 1000),
        all.some(({ blind }) => blind.length > 0) && [' ', soft('partly not seen')],
      ],
    ],
    ['Peak', (all) => valueOf(all[0]!, peakOf(all).peak)],
    ['Threshold', ([first]) => `${first!.breach} ${valueOf(first!, first!.threshold)}`],
    ['Outcome', (all) => [unique(all.map(outcomeOf)), ' ', badge(all[0]!.severity, all[0]!.severity)]],
    [
      'Notified',
      (all) => {
        const notified = all.flatMap((one) => one.notified)
        const suppressed = unique(all.flatMap((one) => one.suppressed.map(({ by }) => WORDS[by])))
        return [unique(notified.map(({ receiver }) => receiver)) || '–', suppressed && [' ', soft(suppressed)]]
      },
    ],
  ]
  const look = (all: Together) => (episodes.includes(all) ? '' : 'part')
  return <Table caption={caption} columns={isShort ? columns.slice(0, 4) : columns} items={items} look={look} isTall />
}

/** An alert, as a link to it. */
const linkOf = (one: Parameters<typeof addressOfAlert>[0] & { since: string | null }) => [
  <a href={addressOfAlert(one, one.since)}>{one.alert}</a>,
  ' ',
  soft(named({ ...one, alert: '' })),
]

const keyOf = ([first]: Together) => `${first!.alert} ${first!.since}`

/** How many alerts there are, and a button that shows or hides them. */
function togetherText(all: Together, { openEpisodes }: State) {
  const [name, key] = [all[0]!.alert, keyOf(all)]
  const isOpen = openEpisodes === key
  const { size } = new Set(all.map(({ target }) => target))
  const alerts = size === all.length ? '' : `${plural(all.length, 'alert')} `
  const toggle = () => change({ openEpisodes: isOpen ? '' : key })
  const text = isOpen ? 'Hide' : 'Show'
  return [
    `${name} `,
    [<a href={addressOfIncidentPage(all[0]!, all[0]!.since)}>{`${alerts}on ${plural(size, 'target')}`}</a>, ' '],
    <Button aria-label={`${text} alerts of ${name}`} aria-expanded={isOpen} onClick={toggle}>
      {text}
    </Button>,
  ]
}

const outcomeOf = ({ outcome, expired_because: why }: PastAlert) =>
  why === undefined ? (outcome ?? 'fires') : `expired: ${why}`

const unique = (texts: readonly string[]) => [...new Set(texts)].join(', ')
