import { isBeyond } from '../../../alerts/signal.ts'
import { MODES, TYPES } from '../../../ledger/call.ts'
import { formatNumber, formatSeconds, formatShare, plural } from '../../../text/format.ts'
import { REASONS, type Reason } from '../../../ledger/failure-ratio.ts'
import type { Alert, Receiver, Rule, Target } from '../model/api.ts'
import { labelText, minute, moment, zone } from '../model/format.ts'
import { ruleOf, shownIncidents, waitsFor, waitsText, type ShownIncident } from '../model/alerts/incidents.ts'
import { ageOfTargets, failureText, isSyncing, polledTargets } from '../model/notices.ts'
import { nowOf, type State } from '../model/state.ts'
import {
  isPolled,
  mainRatio,
  ruleRatios,
  rulesOfCalls,
  shownAlerts,
  shownTargets,
  sum,
  windowsOf,
  type RuleRatio,
  type Window,
} from '../model/totals.ts'
import { badge, bar, coloured, facts, Section, soft, Table, type Column } from './layout.tsx'

/** The five most important numbers, large enough for a wall display. */
export function Tiles({ state }: { state: State }) {
  const [targets, alerts] = [shownTargets(state), shownAlerts(state)]
  const polled = targets.filter(isPolled)
  const inCalls = `${formatNumber(sum(polled, (one) => one.participants_in_progress))} participants`
  // Nothing is 0 that nobody has counted.
  const isKnown = polled.length > 0
  const known = (is: boolean, otherwise: string, ...[id, name, ...rest]: Parameters<typeof tile>) =>
    is ? tile(id, name, ...rest) : tile(id, name, '–', otherwise)
  return (
    <section class="glance" aria-label="At a glance">
      <dl class="tiles">
        {[
          known(isKnown, 'never polled', 'calls-now', 'Calls in progress', inProgress(polled), inCalls),
          known(isKnown, 'not evaluated', ...failedTile(state, targets)),
          known(isKnown || alerts.length > 0, 'not evaluated', ...firingTile(state, alerts)),
          pollsTile(state, targets),
          messagesTile(state),
        ]}
      </dl>
    </section>
  )
}

const inProgress = (targets: Target[]) => formatNumber(sum(targets, ({ in_progress }) => in_progress))

/** How many alerts fire, of how many of them nobody is notified, and how many are pending. */
function firingTile(state: State, alerts: readonly Alert[]): Parameters<typeof tile> {
  const [why, { length }] = [waitsFor(state), alerts.filter((one) => one.state !== 'pending')]
  const kinds = alerts.map((one) => (one.state === 'pending' ? one.state : why(one)))
  const note = waitsText(['', ...kinds]) || '0 pending'
  const isNotified = alerts.some((one) => one.state !== 'pending' && why(one) === '')
  return ['alerts-firing', 'Alerts firing', formatNumber(length), note, isNotified ? 'bad' : '']
}

/** A number that is large enough for a wall display, with its name and a note. */
export function tile(id: string, name: string, value: string, note: string, tone = '') {
  return (
    <div class={['calls-now', 'failing'].includes(id) ? 'card tile' : 'card tile state'}>
      <dt>{name}</dt>
      <dd id={id} class={`big ${tone}`}>
        {value}
      </dd>
      <dd class="soft">{note}</dd>
    </div>
  )
}

/** The share of failed calls: of the incident that is about it, else of all calls, and where it is highest, or of a single target the number that a rule compares. */
function failedTile(state: State, targets: Target[]): Parameters<typeof tile> {
  const { window = '15m', calls = 0, any, rule, highest } = mainRatio(targets) ?? {}
  const isAny = ({ lead, incident }: ShownIncident) =>
    incident.calls?.as_of === null && ruleOf(state, lead).reason === 'any'
  const shown = shownIncidents(state).find(isAny)
  if (shown !== undefined)
    return incidentTile(state, shown, targets.length > 1 && `; all calls in ${window}: ${share(any)}`)
  const by = rule === undefined || highest !== undefined ? '' : `${rule.name}: `
  const where = highest === undefined ? '' : `; highest share: ${highest}`
  const note = `${by}${any === undefined ? 'too few, ' : ''}${plural(calls, 'finished call')}${where}`
  return ['failing', `Failed in ${window}${targets.length > 1 ? ', all calls' : ''}`, share(any), note]
}

/** @param all the share of all calls; false of a single target */
function incidentTile(state: State, shown: ShownIncident, all: string | false): Parameters<typeof tile> {
  const { incident, lead, isQuiet, isBeyond } = shown
  const { total, failed } = incident.calls!
  const on = all === false ? '' : `, ${plural(incident.targets.firing, 'target')}`
  const { match, window_seconds: window = 0 } = ruleOf(state, lead)
  const only = labelText(match ?? {})
  const calls = `${plural(total ?? 0, 'finished call')}${only && ` (${only})`}`
  const about = `${all === false ? `${lead.alert}: ` : ''}${calls}${all || ''}`
  const title = `Failed in ${formatSeconds(window)}${on}`
  return ['failing', title, share(failed! / total!), about, isBeyond && !isQuiet ? 'bad' : '']
}

const share = (ratio: number | undefined) => (ratio === undefined ? '–' : formatShare(ratio))

/** How many targets can be read, and how long ago the one was that has waited longest. */
function pollsTile(state: State, targets: Target[]) {
  const polled = polledTargets(state).length
  const [oldest] = targets.filter(isPolled).toSorted((a, b) => b.lag_seconds - a.lag_seconds)
  const ago = oldest && `${formatSeconds(oldest.lag_seconds + ageOfTargets(state))} ago`
  const note = oldest === undefined ? 'none succeeded yet' : `${targets.length > 1 ? `${oldest.name}: ` : ''}${ago}`
  const value = `${formatNumber(polled)} of ${formatNumber(targets.length)}`
  const slow = targets.filter(({ warnings }) => warnings?.some(({ kind }) => kind === 'slow_service')).length
  const slowly = slow === 0 ? '' : `; slow answers${targets.length > 1 ? ` on ${plural(slow, 'target')}` : ''}`
  const tone = polled === targets.length ? (slow > 0 ? 'warning' : '') : isSyncing(state) ? 'warning' : 'bad'
  return tile('polls', 'Targets polled', value, `${note}${slowly}`, tone)
}

/** Whether notifications arrive: what fails, and for how long, or the newest one. Changes also wait for their group, or because something suppresses them. */
function messagesTile(state: State) {
  const receivers = state.snapshot?.receivers
  const newest = newestSent(state)
  const waiting = (receivers ?? [])
    .filter((one) => one.pending > 0 || refuses(one))
    .map((one) => {
      const { name, pending, failing_since: since } = one
      const failed = since === undefined ? '' : ` failing since ${moment(since, nowOf(state))},`
      const refused = refuses(one) ? `, ${failureText(one, nowOf(state))}` : ''
      return `${name}:${failed} ${formatNumber(pending)} to be sent${refused}`
    })
  const [none, never] = state.pastAlerts === undefined ? ['–', ''] : ['none', 'no alert was sent in 7 days']
  const last = newest === undefined ? never : `${newest.receiver} ${moment(newest.at, nowOf(state))}`
  const [value, tone] = messagesState(receivers, newest ? 'delivered' : waiting.length > 0 ? 'waiting' : none)
  const notes = tone === undefined && newest !== undefined ? [last, ...waiting] : waiting
  return tile('messages', 'Messages', value, notes.join('; ') || last, tone)
}

function messagesState(receivers: Receiver[] | undefined, ok: string): [string, string?] {
  if (receivers === undefined) return ['–']
  if (receivers.some(({ failing_since: since }) => since !== undefined)) return ['failing', 'bad']
  if (receivers.some(refuses)) return ['some refused', 'warning']
  return [ok]
}

/** Whether only some messages do not arrive. */
const refuses = ({ failing_since: since, problem }: Receiver) => since === undefined && problem !== undefined

function newestSent({ pastAlerts = [], target }: State) {
  const sent = pastAlerts.flatMap((one) => (target === '' || one.target === target ? one.notified : []))
  return sent.toSorted((a, b) => (a.at < b.at ? 1 : -1))[0]
}

type Period = 'participant_minutes_today' | 'participant_minutes_this_month'

/** The budgets for the month. */
function budgets(targets: Target[]) {
  const rules = new Map(targets.flatMap(({ rules }) => rules).map((rule) => [rule.name, rule]))
  const budgets = [...rules.values()].filter(({ signal }) => signal === 'budget_minutes')
  return budgets.map(
    ({ name, threshold, limit = 0, of }) =>
      `${name} fires above ${formatNumber(threshold * limit)}${of === 'duration' ? ' user minutes' : ''}`,
  )
}

/** Calls in progress, by type and mode. Undocumented types and modes are shown only if there are such calls. */
export function InProgress({ state }: { state: State }) {
  const targets = shownTargets(state).filter(isPolled)
  if (targets.length === 0) return false
  const counts = targets.flatMap(({ in_progress_by: by }) => by)
  const calls = (types: readonly string[], modes: readonly string[]) =>
    sum(counts, ({ type, mode, calls }) => (types.includes(type) && modes.includes(mode) ? calls : 0))
  const types = TYPES.filter((type) => type !== 'other' || calls([type], MODES) > 0)
  const modes = MODES.filter((mode) => mode !== 'other' || calls(TYPES, [mode]) > 0)
  const rows = [...modes.map((mode) => ({ name: mode, modes: [mode] })), { name: 'all', modes }]
  const look = ({ name }: (typeof rows)[number]) => (name === 'all' ? 'total' : '')
  const columns: Column<(typeof rows)[number]>[] = [
    ['Mode', ({ name }) => name],
    ...types.map((type): Column<(typeof rows)[number]> => [type, ({ modes }) => formatNumber(calls([type], modes))]),
    ['all', ({ modes }) => formatNumber(calls(types, modes))],
  ]
  return (
    <Section id="in-progress" title="Calls in progress">
      <Table caption="Calls in progress by mode and type" columns={columns} items={rows} look={look} isNumeric />
      <h3>Participant minutes, also of calls in progress</h3>
      {facts([
        ['Today (UTC)', used(state, 'minutes-today', 'participant_minutes_today')],
        ['This month (UTC)', used(state, 'minutes-month', 'participant_minutes_this_month', budgets(targets))],
      ])}
    </Section>
  )
}

/** Minutes since the start of the period, or the set-up of the first target if that is later, and what else is known. */
function used(state: State, id: string, period: Period, notes: string[] = []) {
  const targets = shownTargets(state).filter(isPolled)
  const [counted = ''] = targets.map((target) => target.counted_since).toSorted()
  const begin = [targets[0]![period].since, counted].toSorted()[1]!
  const about = [`since ${minute(begin, nowOf(state))} ${zone(begin)}`, ...notes].join('; ')
  return [<strong id={id}>{formatNumber(sum(targets, (one) => one[period].minutes))}</strong>, ' ', soft(about)]
}

/** The failure ratio of each window by reason, and of each rule with its threshold where one target is shown. */
export function FailureRatio({ state }: { state: State }) {
  const targets = shownTargets(state)
  if (!targets.some(isPolled)) return false
  const ratios = ruleRatios(state)
  return (
    <Section id="failure-ratio" title="Failure ratio">
      <Table
        caption="Share of the finished calls of each window that failed, by reason"
        columns={windowColumns(rulesOfCalls(targets))}
        items={windowsOf(targets)}
        isNumeric
      />
      {ratios.length > 0 && (
        <>
          <h3>Rule evaluation</h3>
          <Table
            caption="Failure ratio of each rule, with the threshold"
            columns={RULE_COLUMNS}
            items={ratios}
            isNumeric
          />
        </>
      )}
    </Section>
  )
}

const windowColumns = (rules: Rule[]): Column<Window>[] => [
  ['Window', ({ window }) => window],
  ['Calls', ({ calls }) => formatNumber(calls)],
  ...REASONS.map((reason): Column<Window> => {
    const rulesOf = (seconds: number) =>
      rules.filter((rule) => rule.window_seconds === seconds && rule.reason === reason)
    return [
      reason,
      ({ seconds, failure_ratio: ratio }) => [
        ratio === null ? soft('too few') : formatShare(ratio[reason]),
        ratioBar(ratio?.[reason], reason, rulesOf(seconds)),
      ],
    ]
  }),
]

const matchedBy = ({ match }: Rule, { labels }: RuleRatio['reading']) => labelText({ ...match, ...labels })

const RULE_COLUMNS: Column<RuleRatio>[] = [
  [
    'Rule',
    ({ rule, reading, alert }) => {
      const { name, reason = 'any', window_seconds = 0, min_calls = 0 } = rule
      const about = [
        reason,
        formatSeconds(window_seconds),
        matchedBy(rule, reading),
        `at least ${formatNumber(min_calls)} calls`,
      ]
      return [name, ' ', alert !== undefined && [badge(alert.state), ' '], soft(about.filter(Boolean).join(', '))]
    },
  ],
  ['Calls', ({ reading: { calls } }) => formatNumber(calls)],
  [
    'Ratio',
    ({ rule, reading: { value } }) => {
      const isPast = value !== null && isBeyond(rule, value, rule.threshold)
      return [
        <span class={isPast ? rule.severity : ''}>{value === null ? 'too few' : formatShare(value)}</span>,
        ratioBar(value, rule.reason ?? 'any', [rule]),
      ]
    },
  ],
  [
    'Threshold',
    ({ rule: { breach, threshold, clear }, reading: { usual } }) => [
      `${breach} ${formatShare(threshold)} `,
      clear !== threshold && soft(`clears at ${formatShare(clear)}`),
      usual !== undefined && soft(` usually ${formatShare(usual)}`),
    ],
  ],
]

/** A bar from 0 to 100% with the thresholds of rules. */
const ratioBar = (ratio: number | null | undefined, reason: Reason, rules: Rule[]) =>
  bar(
    ratio ?? 0,
    reason,
    rules.map(({ name, severity, threshold }) => {
      const x = threshold * 100
      return <line key={name} style={coloured(severity)} x1={x} x2={x} y1="0" y2="10" />
    }),
  )
