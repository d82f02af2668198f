import { capital, formatNumber, formatSeconds, formatShare, plural } from '../../../text/format.ts'
import { changeAddress } from '../model/address.ts'
import type { Report } from '../model/api.ts'
import { moment, secondsBetween, someOf, span, zone } from '../model/format.ts'
import { periodBefore } from '../model/period.ts'
import { change, nowOf, type State } from '../model/state.ts'
import { countOf, OUTCOMES } from '../model/totals.ts'
import { isWhole, KEYS, keysOf, type Usage as Answer } from '../model/usage.ts'
import { Chart } from './chart.tsx'
import { Check, Download, Filters, PeriodChoice, TargetChoice } from './fields.tsx'
import { tile } from './glance.tsx'
import { Button, Note, quiet, Section, Table, words, type Column } from './layout.tsx'

const PRESETS = [
  ['month', 'this month'],
  ['last-month', 'last month'],
  ['7d', 'the last 7 days'],
] as const

/** What was used in a period, next to the time before, and when callwatch did not see the targets. */
export function Usage({ state }: { state: State }) {
  const { answer, problem, request, asOf } = state.usage
  const now = nowOf(state)
  const by = keysOf(state.query)
  const toggle = (key: string) => {
    const keys = KEYS.filter((one) => by.includes(one) !== (one === key))
    changeAddress({ by: keys.join() || 'none' })
  }
  const download = <Download request={`report?${request}`} format="csv" name="usage" />
  return (
    <>
      <Section id="usage-report" title="Usage" note={download}>
        <Filters query={state.query}>
          <PeriodChoice state={state} presets={PRESETS} otherwise="month" asOf={asOf} />
          <TargetChoice state={state} />
          <fieldset>
            <legend>A row for each</legend>
            {KEYS.map((key) => (
              <Check label={nameOf(key).toLowerCase()} isOn={by.includes(key)} onChange={() => toggle(key)} />
            ))}
          </fieldset>
        </Filters>
        <Note id="usage-note" problem={problem} isLoading={answer === undefined}>
          {answer !== undefined && aboutTimes(answer, now)}
        </Note>
        {answer !== undefined && <Coverage coverage={answer.report.coverage} now={now} />}
      </Section>
      {answer !== undefined &&
        countOf(answer.report.total) > 0 && [
          totals(answer),
          answer.chart && <Chart chart={answer.chart} state={state} />,
          <Rows report={answer.report} by={by} state={state} />,
        ]}
    </>
  )
}

const nameOf = (key: string) => capital(key.replace('_', ' '))

type Row = Report['total'] & Partial<Report['rows'][number]>
const minutesOf = ({ participant_minutes: { audio, video } }: Row) => audio + video

const nameBefore = ({ since, until }: Report) => periodBefore(Date.parse(since), Date.parse(until)).name

/** Of which times the numbers are, and whether no call finished. */
function aboutTimes({ report, before }: Answer, now: string) {
  const name = nameBefore(report)
  const times = ({ since, until }: Report) => span(since, until, now)
  const next = before ? `, next to those of ${times(before)}` : ''
  const missing = before && !isWhole(before) ? ` Not all calls of ${name} are known.` : ''
  const did = before ? `; ${plural(countOf(before.total), 'call')} did in ${name}` : ''
  return [
    countOf(report.total) === 0 && <p>{`No call finished in this period${did}.`}</p>,
    quiet(`Calls that finished in ${times(report)}${next}. Days are those of ${report.zone}.${missing}`),
  ]
}

/** From so many on, minutes have no tenths. */
const MANY_MINUTES = 1000
const rounded = (minutes: number) => formatNumber(minutes, minutes < MANY_MINUTES ? 1 : 0)
/** With a tenth, so that the digits of a column are below each other. */
const tenths = (value: number) => formatNumber(value).replace(/^[^.]+$/, '$&.0')
/** Outcomes without a column where no call has them. */
const SELDOM = ['other', 'lost']

/** The totals, each with its value of the time before. */
function totals({ report, before }: Answer) {
  const name = nameBefore(report)
  const number = (id: string, title: string, of: (row: Row) => number | null, format: (value: number) => string) => {
    const [value, past] = [of(report.total), before ? of(before.total) : null]
    const more = (value ?? 0) - (past ?? 0)
    const difference = `${more < 0 ? '-' : '+'}${format(Math.abs(more)).replace('%', ' points')}`
    const note = past === null ? `not known of ${name}` : `${format(past)} ${name}, ${difference}`
    return tile(id, title, value === null ? '–' : format(value), note)
  }
  return (
    <dl class="tiles">
      {[
        number('used-minutes', `Participant minutes (${report.zone})`, minutesOf, rounded),
        number('used-user-minutes', 'User minutes, the vendor’s formula', (row) => row.user_minutes, rounded),
        number('used-calls', 'Calls', countOf, formatNumber),
        number('used-failed', 'Failed', (row) => row.failure_ratio, formatShare),
        number('used-duration', 'Mean duration', (row) => row.duration_seconds.mean, formatSeconds),
      ]}
    </dl>
  )
}

/** As many rows are shown at first. */
const MOST = 20

function Rows({ report, by, state }: { report: Report; by: ReturnType<typeof keysOf>; state: State }) {
  const { rows, total } = report
  const shown = state.showsAllRows ? rows : rows.slice(0, MOST)
  const number = (title: string, of: (row: Row) => string): Column<Row> => [title, of, 'number']
  const minutes = (title: string, of: (row: Row) => number) =>
    number(title, (row) => (of(total) < MANY_MINUTES ? tenths(of(row)) : formatNumber(of(row), 0)))
  const duration = (seconds: number | null) => (seconds === null ? '–' : formatSeconds(seconds))
  const columns: Column<Row>[] = [
    ...(by.length === 0
      ? [['Rows', () => 'all'] as const]
      : by.map((key, i): Column<Row> => [nameOf(key), (row) => row[key] ?? (i === 0 ? 'all' : '')])),
    number('Calls', (row) => formatNumber(countOf(row))),
    ...OUTCOMES.filter((outcome) => total.calls[outcome] > 0 || !SELDOM.includes(outcome)).map((outcome) =>
      number(capital(outcome), ({ calls }) => formatNumber(calls[outcome])),
    ),
    minutes('Audio min', (row) => row.minutes.audio),
    minutes('Video min', (row) => row.minutes.video),
    minutes('Participant audio min', (row) => row.participant_minutes.audio),
    minutes('Participant video min', (row) => row.participant_minutes.video),
    minutes('User min', (row) => row.user_minutes),
    number('Failure ratio', ({ failure_ratio: ratio }) => (ratio === null ? '–' : `${tenths(ratio * 100)}%`)),
    number('Mean duration', ({ duration_seconds: { mean } }) => duration(mean)),
    number('95th percentile', ({ duration_seconds: { p95 } }) => duration(p95)),
    number('Noticed late', ({ noticed_late }) => formatNumber(noticed_late)),
  ]
  return (
    <Section id="usage-rows" title={by.length === 0 ? 'All calls' : `By ${by.map(nameOf).join(', ').toLowerCase()}`}>
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
