import { capital, formatNumber, formatSeconds, formatShare, plural } from '../../../text/format.ts'
import { plainText } from '../../../text/plain-text.ts'
import { addressOf } from '../model/address.ts'
import type { PerMinute, Target, Webhook } from '../model/api.ts'
import { moment, zone } from '../model/format.ts'
import { ageOfTargets, isStale, problemText, snapshotAge, syncText } from '../model/notices.ts'
import { overviewOf, type OverviewRow } from '../model/overview.ts'
import { nowOf, type State } from '../model/state.ts'
import { searched, sorted } from '../model/steady.ts'
import { isPolled, once, onlyOf, OUTCOMES, shownTargets, toneOf } from '../model/totals.ts'
import { Search } from './fields.tsx'
import { badge, facts, Section, soft, sparkline, stateBadges, Table, words, type Column } from './layout.tsx'

const HEALTH_TONES = { failing: 'bad', stale: 'bad', 'never polled': 'bad', 'initial sync': 'warning', up: 'good' }
const STATES = ['with alerts', ...Object.keys(HEALTH_TONES)]

/** A line for each target, worst first; absent where one target is shown. */
export function Overview({ state }: { state: State }) {
  const all = shownTargets(state).length
  if (all < 2) return false
  const rows = sorted(state.query, overviewOf(state), RANKS)
  const found = searched(state, rows, ({ target: { name, state: health }, alerts }) => ({
    names: [name, ...alerts.map(({ alert }) => alert)],
    states: [health, ...(alerts.length > 0 ? ['with alerts'] : [])],
  }))
  const windows = [...new Set(found.rows.flatMap(({ main }) => main?.window ?? []))]
  return (
    <Section
      id="overview"
      title={`${formatNumber(all)} targets`}
      note={soft('targets that are not polled first, then those with alerts, then by failed share')}
    >
      <Search of={found} states={STATES} />
      <Table
        caption="Status of each target, worst first"
        columns={columnsOf(state, windows.length === 1 ? ` in ${windows[0]}` : '')}
        items={found.rows}
        sorts={RANKS}
        query={state.query}
        empty="No target matches."
        look={(row) =>
          `${HEALTH_TONES[row.target.state] === 'bad' ? 'critical' : toneOf(row.alerts[0])} ${isStale(row.target) ? 'stale' : ''}`
        }
      />
    </Section>
  )
}

/** By what the reader can sort, by the headings of the columns. */
const RANKS = {
  Target: ({ target }: OverviewRow) => target.name,
  Failed: ({ main }: OverviewRow) => main?.any ?? -1,
  'Calls in the last hour': ({ target }: OverviewRow) =>
    target.windows.find(({ seconds }) => seconds === HOUR)?.calls ?? 0,
  'In progress': ({ target }: OverviewRow) => target.in_progress,
  'Last poll': ({ target }: OverviewRow) => (isPolled(target) ? target.lag_seconds : Infinity),
}

const columnsOf = (state: State, inWindow: string): Column<OverviewRow>[] => [
  ['Target', ({ target: { name } }) => <a href={addressOf('overview', { target: name })}>{name}</a>],
  ['Status', (row) => statusOf(row, state), 'state said'],
  [
    `Failed${inWindow}`,
    ({ target, main }) => [
      isPolled(target) ? (main?.any === undefined ? '–' : formatShare(main.any)) : soft('not evaluated'),
      inWindow === '' && soft(main && ` in ${main.window}`),
    ],
    'number',
  ],
  [
    'Calls in the last hour',
    ({ target }) => {
      const counts = state.snapshot && minutesByName(state.snapshot.perMinute).get(target.name)
      if (!isPolled(target)) return soft('never polled')
      // The minutes are read less often than the windows.
      const hour = target.windows.find(({ seconds }) => seconds === HOUR)
      return [formatNumber(hour?.calls ?? 0), ' ', counts && sparkOf(counts)]
    },
    'number',
  ],
  ['In progress', ({ target }) => countOf(target, target.in_progress), 'number'],
  ['Last poll', ({ target }) => lastPollOf(target, ageOfTargets(state)), 'number state'],
]

/** A count of a target; nothing is known of one that was never polled. */
const countOf = (target: Target, count: number) => (isPolled(target) ? formatNumber(count) : '–')

function statusOf(row: OverviewRow, state: State) {
  const { target, alerts } = row
  const [health, reasons] = healthText(target, ageOfTargets(state))
  const [, owner] = ownerOf(state, target) || []
  return [health, ' ', stateBadges(alerts), owner === NO_OWNER && [' ', owner], reasons]
}

const HOUR = 3600

/** Targets by name, each with its picture, which is drawn once for the same numbers. */
const minutesByName = once(({ targets }: PerMinute) => new Map(targets.map((one) => [one.name, one])))
const sparkOf = once((counts: PerMinute['targets'][number]) => sparkline([counts]))

/** The health and the totals of the target where one is shown. */
export function TargetFacts({ state }: { state: State }) {
  const target = onlyOf(shownTargets(state))
  if (target === undefined) return false
  const [age, now] = [ageOfTargets(state), nowOf(state)]
  const { sweep_age_seconds: sweep, finished, minutes } = target
  const count = (of: number) => countOf(target, of)
  return (
    <Section id="target-facts" title={target.name}>
      {facts([
        ['Health', healthText(target, age)],
        ownerOf(state, target),
        ['Requests in the last minute', requestsOf(target)],
        ['Last complete sweep', sweep === null ? 'none yet' : `${formatSeconds(sweep + age)} ago`],
        ['Tracked calls', count(target.tracked_calls)],
        [`Started since ${moment(target.counted_since, now)} ${zone(now)}`, count(target.started)],
        ...OUTCOMES.map((outcome) => [capital(outcome), count(finished[outcome])] as const),
        ['Audio min', count(minutes.audio)],
        ['Video min', count(minutes.video)],
      ])}
    </Section>
  )
}

const lastPollOf = ({ last_success: last, lag_seconds: lag }: Target, age: number) =>
  last === null ? 'never polled' : `${formatSeconds(lag + age)} ago`

/** Where several daemons share the targets. */
function ownerOf({ snapshot }: State, { owner }: Target) {
  if (!snapshot?.targets.some((one) => one.owner !== undefined)) return false
  return ['Owner', owner ?? NO_OWNER] as const
}

const NO_OWNER = <b class="bad">no owner</b>

const requestsOf = ({ name, requests_last_minute: requests, max_requests_per_minute: most }: Target) => [
  `${formatNumber(requests)} of ${formatNumber(most)}`,
  <meter aria-label={`Requests of ${name} against the budget`} max={most} value={requests} high={most * 0.9} />,
]

function healthText(target: Target, age: number) {
  const { rate_limit_pause_seconds: held, slow_sweep: slow, warnings = [] } = target
  const { slowed_to_requests_per_minute: slowed, refused_from_page: refused } = target
  const reasons = [
    target.state === 'initial sync' ? syncText(target) : problemText(target),
    held > age && `rate limit pause: no requests for ${formatSeconds(held - age)}`,
    slowed !== undefined && `the service has ${slowed} requests a minute left for callwatch`,
    slow !== undefined &&
      `the whole list (${plural(slow.pages, 'page')}) is read once in ${formatSeconds(slow.seconds)}`,
    refused !== undefined && `the service refuses page ${refused} of its list and later pages`,
    ...warnings.map(({ message }) => message),
  ].filter(Boolean)
  return [badge(target.state, HEALTH_TONES[target.state]), reasons.length > 0 && [' ', words(reasons.join('; '))]]
}

const TONES: Record<string, string> = { delivering: 'good', failing: 'bad', paused: 'warning' }

/** Delivery of each event webhook; absent without any. */
export function Webhooks({ state }: { state: State }) {
  const webhooks = state.snapshot?.webhooks ?? []
  if (webhooks.length === 0) return false
  const [age, now] = [snapshotAge(state), nowOf(state)]
  const columns: Column<Webhook>[] = [
    ['Webhook', ({ name }) => name],
    [
      'State',
      ({ state, problem }) => [badge(state, TONES[state]), problem !== undefined && [' ', words(plainText(problem))]],
    ],
    ['Pending', ({ pending }) => formatNumber(pending)],
    [
      'Oldest pending',
      ({ oldest_pending_seconds: oldest }) => (oldest === undefined ? '–' : formatSeconds(oldest + age)),
    ],
    ['Dead letters', ({ dead_letters: dead }) => (dead > 0 ? <b class="bad">{formatNumber(dead)}</b> : 0)],
    [`Last delivery (${zone(now)})`, ({ last_delivered: last }) => (last === undefined ? 'never' : moment(last, now))],
  ]
  return (
    <Section id="webhooks" title="Webhooks of events">
      <Table caption="Delivery of each event webhook" columns={columns} items={webhooks} isNumeric />
    </Section>
  )
}
