import { MODES, TYPES } from '../../../ledger/call.ts'
import { formatNumber, formatSeconds, formatShare } from '../../../text/format.ts'
import { REASONS, type Reason } from '../../../ledger/failure-ratio.ts'
import type { Rule, Target } from '../model/api.ts'
import { labelText, local, zone } from '../model/format.ts'
import { staleTargets } from '../model/notices.ts'
import { targetWindow } from '../model/overview.ts'
import type { State } from '../model/state.ts'
import {
  inProgressBy,
  isPolled,
  mainRatio,
  ruleRatios,
  rulesOfWindows,
  shownAlerts,
  shownTargets,
  sum,
  windowsOf,
  type MainRatio,
  type RuleRatio,
  type Window,
} from '../model/totals.ts'
import { badge, coloured, Section, soft, Table, type Column } from './layout.tsx'

/** The most important numbers, large enough for a wall display. */
export function Tiles({ state }: { state: State }) {
  const [targets, alerts] = [shownTargets(state), shownAlerts(state)]
  const main = mainRatio(targets)
  const firing = alerts.filter(({ state }) => state !== 'pending').length
  const participants = sum(targets, (one) => one.participants_in_progress)
  const ratio = main?.any === undefined ? '–' : formatShare(main.any)
  const used = (period: Period) => formatNumber(sum(targets, (one) => one[period].minutes))
  const [today, month] = ['participant_minutes_today', 'participant_minutes_this_month'] as const
  // Nothing is 0 that nobody has counted.
  const isKnown = targets.some(isPolled)
  const counted = (id: string, name: string, value: string, note: string, unknown = 'never polled') =>
    isKnown ? tile(id, name, value, note) : tile(id, name, '–', unknown)
  const failed = `Failed in ${main?.window ?? '15m'}`
  return (
    <section class="glance" aria-label="At a glance">
      <dl class="tiles">
        {[
          counted('calls-now', 'Calls in progress', inProgress(targets), `${formatNumber(participants)} participants`),
          counted('failing', failed, ratio, ratioNote(main, targets.length > 1), 'not evaluated'),
          isKnown || alerts.length > 0
            ? tile(
                'alerts-firing',
                'Alerts firing',
                formatNumber(firing),
                `${formatNumber(alerts.length - firing)} pending`,
                firing > 0 ? 'bad' : '',
              )
            : tile('alerts-firing', 'Alerts firing', '–', 'not evaluated'),
          counted('minutes-today', 'Participant minutes today (UTC)', used(today), sinceNote(targets, today)),
          counted(
            'minutes-month',
            'Participant minutes this month (UTC)',
            used(month),
            [sinceNote(targets, month), ...budgets(targets)].join('; '),
          ),
        ]}
      </dl>
    </section>
  )
}

type Period = 'participant_minutes_today' | 'participant_minutes_this_month'

const inProgress = (targets: Target[]) => formatNumber(sum(targets, ({ in_progress }) => in_progress))

function tile(id: string, name: string, value: string, note: string, tone = '') {
  return (
    <div class={id === 'alerts-firing' ? 'card tile state' : 'card tile'}>
      <dt>{name}</dt>
      <dd id={id} class={`big ${tone}`}>
        {value}
      </dd>
      <dd class="soft">{note}</dd>
    </div>
  )
}

function ratioNote(ratio: MainRatio | undefined, hasTarget: boolean) {
  if (ratio === undefined) return ''
  const { any, calls, rule, target } = ratio
  const of = rule === undefined ? '' : `${rule}${hasTarget ? ` on ${target}` : ''}: `
  return `${of}${any === undefined ? 'too few, ' : ''}${formatNumber(calls)} finished ${calls === 1 ? 'call' : 'calls'}`
}

/** The time since which callwatch counts: the start of the period, or the set-up of the first target if that is later. */
function sinceNote(targets: Target[], period: Period) {
  const [first] = targets
  if (first === undefined) return ''
  const { since } = first[period]
  const created = targets.map((target) => target.created).toSorted()[0] ?? since
  const begin = created > since ? created : since
  return `participant minutes since ${local(begin).slice(0, 16).replace('T', ' ')} ${zone(begin)}`
}

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
  const targets = shownTargets(state)
  if (!targets.some(isPolled)) return false
  const counts = inProgressBy(targets)
  const calls = (types: readonly string[], modes: readonly string[]) =>
    sum(types, (type) => sum(modes, (mode) => counts.get(`${type}|${mode}`) ?? 0))
  const types = TYPES.filter((type) => type !== 'other' || calls([type], MODES) > 0)
  const modes = MODES.filter((mode) => mode !== 'other' || calls(TYPES, [mode]) > 0)
  const rows = [...modes.map((mode) => ({ name: mode, modes: [mode] })), { name: 'all', modes }]
  const columns: Column<(typeof rows)[number]>[] = [
    ['Mode', ({ name }) => name],
    ...types.map((type): Column<(typeof rows)[number]> => [type, ({ modes }) => formatNumber(calls([type], modes))]),
    [
      'all',
      ({ name, modes }) =>
        name === 'all' ? <strong>{inProgress(targets)}</strong> : formatNumber(calls(types, modes)),
    ],
  ]
  return (
    <Section id="in-progress" title="Calls in progress">
      <Table caption="Calls in progress by mode and type" columns={columns} items={rows} isNumeric />
    </Section>
  )
}

/** The failure ratio of each window by reason, and of each rule with its threshold. */
export function FailureRatio({ state }: { state: State }) {
  const targets = shownTargets(state)
  if (!targets.some(isPolled)) return false
  const listed = new Set(targetWindow(state).rows.map(({ target }) => target))
  const ratios = ruleRatios(
    state,
    targets.filter((target) => listed.has(target)),
  )
  const rules = rulesOfWindows(targets)
  const stale = new Set(staleTargets(state).map(({ name }) => name))
  const active = ratios.filter(({ alert }) => alert !== undefined)
  const inactive = ratios.filter(({ alert }) => alert === undefined)
  const table = (which: string, shown: RuleRatio[]) => (
    <Table
      caption={`Failure ratio of ${which}, with the threshold`}
      columns={ruleColumns(targets.length > 1)}
      items={shown}
      look={({ target }) => (stale.has(target) ? 'stale' : '')}
      isNumeric
      isTall
    />
  )
  return (
    <Section id="failure-ratio" title="Failure ratio">
      <Table
        caption="Share of the finished calls of each window that failed, by reason"
        columns={windowColumns(rules)}
        items={windowsOf(targets)}
        isNumeric
      />
      {ratios.length > 0 && <h3>Rule evaluation</h3>}
      {active.length > 0 && table('active rules', active)}
      {inactive.length > 0 && (
        <details>
          <summary>{`${formatNumber(inactive.length)} inactive ${inactive.length === 1 ? 'rule' : 'rules'}`}</summary>
          {table('inactive rules', inactive)}
        </details>
      )}
    </Section>
  )
}

const windowColumns = (rules: Rule[]): Column<Window>[] => [
  ['Window', ({ window }) => window],
  ['Calls', ({ calls }) => formatNumber(calls)],
  ...REASONS.map((reason): Column<Window> => {
    const ofReason = (rule: Rule, seconds: number) => rule.window_seconds === seconds && rule.reason === reason
    return [
      reason,
      ({ seconds, failure_ratio: ratio }) => [
        ratio === null ? soft('too few') : formatShare(ratio[reason]),
        <RatioBar ratio={ratio?.[reason]} reason={reason} rules={rules.filter((rule) => ofReason(rule, seconds))} />,
      ],
    ]
  }),
]

const matchedBy = ({ match }: Rule, { labels }: RuleRatio['reading']) => labelText({ ...match, ...labels })

const ruleColumns = (hasTarget: boolean): Column<RuleRatio>[] => [
  [
    'Rule',
    ({ target, rule, reading, alert }) => {
      const { name, reason = 'any', window_seconds = 0, min_calls = 0 } = rule
      const about = [
        hasTarget && target,
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
      const isPast = value !== null && (rule.breach === 'above' ? value > rule.threshold : value < rule.threshold)
      return [
        <span class={isPast ? rule.severity : ''}>{value === null ? 'too few' : formatShare(value)}</span>,
        <RatioBar ratio={value} reason={rule.reason ?? 'any'} rules={[rule]} />,
      ]
    },
  ],
  [
    'Threshold',
    ({ rule: { breach, threshold, clear } }) => [
      `${breach} ${formatShare(threshold)} `,
      clear !== threshold && soft(`clears at ${formatShare(clear)}`),
    ],
  ],
]

/** A bar from 0 to 100% with the thresholds of rules. The number next to it has the same information. */
function RatioBar({ ratio, reason, rules }: { ratio: number | null | undefined; reason: Reason; rules: Rule[] }) {
  return (
    <svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
      <rect class="ground" width="100" height="6" y="2" />
      <rect class="fill" style={coloured(reason)} width={(ratio ?? 0) * 100} height="6" y="2" />
      {rules.map(({ name, severity, threshold }) => {
        const x = threshold * 100
        return <line key={name} style={coloured(severity)} x1={x} x2={x} y1="0" y2="10" />
      })}
    </svg>
  )
}
