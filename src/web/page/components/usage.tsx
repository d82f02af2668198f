import { USAGE_KEYS } from '../../../history/usage-keys.ts'
import { capital, formatNumber, formatSeconds, formatShare } from '../../../text/format.ts'
import {
  changeText,
  comparedText,
  firedText,
  forecastText,
  knownText,
  pointsText,
  titleOf,
  worstHourText,
} from '../../../views/report-text.ts'
import { changeAddress } from '../model/address.ts'
import type { Report } from '../model/api.ts'
import { moment, secondsBetween, someOf, zone } from '../model/format.ts'
import { change, nowOf, type State } from '../model/state.ts'
import { countOf, OUTCOMES } from '../model/totals.ts'
import { keysOf, periodName } from '../model/usage.ts'
import { Chart } from './chart.tsx'
import { Check, Download, Filters, PeriodChoice, TargetChoice } from './fields.tsx'
import { tile } from './glance.tsx'
import { Button, Note, quiet, Section, Table, words, type Column } from './layout.tsx'

const PRESETS = [
  ['month', 'this month'],
  ['last-month', 'last month'],
  ['7d', 'the last 7 days'],
] as const

/** The report of a period: what was used, next to the same known days of the period before, and when callwatch did not see the targets. */
export function Usage({ state }: { state: State }) {
  const { answer, problem, request, asOf } = state.usage
  const now = nowOf(state)
  const by = keysOf(state.query)
  const toggle = (key: string) => {
    const keys = USAGE_KEYS.filter((one) => by.includes(one) !== (one === key))
    changeAddress({ by: keys.join() || 'none' })
  }
  const actions = (
    <span class="actions">
      <Download request={`report?${request}`} format="csv" name="usage" period={answer && periodName(answer.report)} />
      <Button onClick={() => print()}>Print</Button>
    </span>
  )
  return (
    <>
      <Section id="usage-report" title={answer === undefined ? 'Usage' : titleOf(answer.report)} note={actions}>
        <Filters query={state.query}>
          <PeriodChoice state={state} presets={PRESETS} otherwise="month" asOf={asOf} />
          <TargetChoice state={state} />
          <fieldset>
            <legend>A row for each</legend>
            {USAGE_KEYS.map((key) => (
              <Check label={nameOf(key).toLowerCase()} isOn={by.includes(key)} onChange={() => toggle(key)} />
            ))}
          </fieldset>
        </Filters>
        <Note id="usage-note" problem={problem} isLoading={answer === undefined}>
          {answer !== undefined && linesOf(answer.report).map((line) => <p>{line}</p>)}
        </Note>
        {answer !== undefined && <Coverage coverage={answer.report.coverage} now={now} />}
      </Section>
      {answer !== undefined &&
        countOf(answer.report.total) > 0 && [
          totals(answer.report),
          answer.chart && <Chart chart={answer.chart} state={state} isOfPeriod />,
          <Rows report={answer.report} by={by} state={state} />,
        ]}
    </>
  )
}

const nameOf = (key: string) => capital(key.replace('_', ' '))

type Row = Report['total'] & Partial<Report['rows'][number]>

/** What the report says besides its numbers. */
function linesOf(report: Report) {
  const lines = [forecastText(report), worstHourText(report), firedText(report), comparedText(report)]
  return [countOf(report.total) === 0 && 'No call finished in this period.', ...lines].filter(Boolean)
}

/** From so many on, minutes have no tenths. */
const MANY_MINUTES = 1000
const rounded = (minutes: number) => formatNumber(minutes, minutes < MANY_MINUTES ? 1 : 0)
/** With a tenth, so that the digits of a column are below each other. */
const tenths = (value: number) => formatNumber(value).replace(/^[^.]+$/, '$&.0')
const shareOf = (ratio: number | null) => (ratio === null ? '–' : `${tenths(ratio * 100)}%`)
/** Outcomes without a column where no call has them. */
const SELDOM = ['other', 'lost']

type Amount = 'calls' | 'participant_minutes' | 'user_minutes'

/** The change from the period before on the days that are known of both, and of how many days it is. */
function changed({ compared }: Row, of: Amount, otherwise = 'not compared') {
  const { now, before, known_days: known } = compared
  if (known === 0) return otherwise
  return withDays(changeText(now[of], before[of]), compared)
}

const withDays = (text: string, compared: Row['compared']) => [text, knownText(compared)].filter(Boolean).join(', ')

/** The totals, each with its change. */
function totals({ total, zone }: Report) {
  const { calls, participant_minutes: minutes, failure_ratio: ratio, duration_seconds, compared } = total
  const points = pointsText(compared)
  const durations = `half are shorter than ${durationOf(duration_seconds.p50)}`
  return (
    <dl class="tiles">
      {[
        tile(
          'used-user-minutes',
          `User minutes (${zone})`,
          rounded(total.user_minutes),
          changed(total, 'user_minutes'),
        ),
        tile('used-minutes', 'Participant minutes', rounded(minutes.total), changed(total, 'participant_minutes')),
        tile('used-calls', 'Calls', formatNumber(calls.total), changed(total, 'calls')),
        tile(
          'used-failed',
          'Failed',
          ratio === null ? '–' : formatShare(ratio),
          points === '' ? 'not compared' : withDays(points, compared),
        ),
        tile('used-duration', 'Mean duration', durationOf(duration_seconds.mean), durations),
      ]}
    </dl>
  )
}

const durationOf = (seconds: number | null) => (seconds === null ? '–' : formatSeconds(seconds))

/** As many rows are shown at first. */
const MOST = 20

function Rows({ report, by, state }: { report: Report; by: ReturnType<typeof keysOf>; state: State }) {
  const { rows, total } = report
  const shown = state.showsAllRows || state.isPrinting ? rows : rows.slice(0, MOST)
  const number = (title: string, of: (row: Row) => string): Column<Row> => [title, of, 'number']
  const minutes = (title: string, of: (row: Row) => number) =>
    number(title, (row) => (of(total) < MANY_MINUTES ? tenths(of(row)) : formatNumber(of(row), 0)))
  const columns: Column<Row>[] = [
    ...(by.length === 0
      ? [['Rows', () => 'all'] as const]
      : by.map((key, i): Column<Row> => [nameOf(key), (row) => row[key] ?? (i === 0 ? 'all' : '')])),
    number('Calls', ({ calls }) => formatNumber(calls.total)),
    ...OUTCOMES.filter((outcome) => total.calls[outcome] > 0 || !SELDOM.includes(outcome)).map((outcome) =>
      number(capital(outcome), ({ calls }) => formatNumber(calls[outcome])),
    ),
    minutes('Call audio min', (row) => row.minutes.audio),
    minutes('Call video min', (row) => row.minutes.video),
    minutes('Participant audio min', (row) => row.participant_minutes.audio),
    minutes('Participant video min', (row) => row.participant_minutes.video),
    minutes('User min', (row) => row.user_minutes),
    ...(total.compared.known_days > 0
      ? [
          [
            'Change of user min',
            (row) => changed(row, 'user_minutes', 'not known before'),
            'number wraps',
          ] satisfies Column<Row>,
        ]
      : []),
    number('Failure ratio', ({ failure_ratio: ratio }) => shareOf(ratio)),
    number('Did not join', ({ not_joined_ratio: ratio }) => shareOf(ratio)),
    number('Mean duration', ({ duration_seconds: { mean } }) => durationOf(mean)),
    number('95th percentile', ({ duration_seconds: { p95 } }) => durationOf(p95)),
    ...(total.noticed_late > 0 ? [number('Noticed late', (row) => formatNumber(row.noticed_late))] : []),
    ...(total.blind_seconds > 0 ? [number('Not covered', (row) => formatSeconds(row.blind_seconds))] : []),
  ]
  return (
    <Section id="usage-rows" title={by.length === 0 ? 'All calls' : `By ${by.map(nameOf).join(', ').toLowerCase()}`}>
      {quiet(
        'An invoice may count differently: `callwatch audit --usage` compares these minutes with those that the calls service counts.',
      )}
      <Table
        caption="Calls by outcome, minutes and durations"
        columns={columns}
        items={rows.length > 1 ? [...shown, total] : rows}
        look={(row) => (row === total ? 'total' : '')}
      />
      {shown.length < rows.length && (
        <Button onClick={() => change({ showsAllRows: true })}>{`All ${formatNumber(rows.length)} rows`}</Button>
      )}
    </Section>
  )
}

const WHY: Record<string, string> = {
  before: 'The target was not set up yet: earlier calls are missing',
  expired: 'Calls that finished then have expired (store.history)',
  ended: 'No poll succeeded: calls that finished meanwhile were noticed late',
  now: 'No poll has succeeded since: later calls are missing',
}

/** What a period does not cover, in words. */
export function Coverage({ coverage: { blind_seconds, blind }, now }: { coverage: Report['coverage']; now: string }) {
  if (blind.length === 0) return <p id="coverage">All targets were seen throughout this period.</p>
  const expired = blind.some(({ kind }) => kind === 'expired') ? 'or no longer has calls of ' : ''
  const targets = someOf([...new Set(blind.map(({ target }) => target))], 'target')
  const columns: Column<(typeof blind)[number]>[] = [
    ['Target', ({ target }) => target],
    [`From (${zone(now)})`, ({ since }) => moment(since, now)],
    ['Until', ({ until }) => moment(until, now)],
    ['How long', ({ since, until }) => formatSeconds(secondsBetween(since, until)), 'number'],
    ['What it means', ({ kind }) => words(WHY[kind])],
  ]
  return (
    <>
      <p id="coverage">
        <strong class="warning">{`Not covered: ${formatSeconds(blind_seconds)}`}</strong>
        {` of this period, in which callwatch did not see ${expired}${targets}.`}
      </p>
      <details>
        <summary>Which times these are</summary>
        <Table caption="Times that are not covered, by target" columns={columns} items={blind} isTall />
      </details>
    </>
  )
}
