import { formatNumber, formatSeconds, formatShare } from '../../../text/format.ts'
import { changeAddress } from '../model/address.ts'
import type { Report } from '../model/api.ts'
import { capital, moment, momentInZone, secondsBetween, zone } from '../model/format.ts'
import { nowOf, type State } from '../model/state.ts'
import { OUTCOMES, sum } from '../model/totals.ts'
import { KEYS, keysOf, totalOf } from '../model/usage.ts'
import { Download, Form, PeriodChoice, TargetChoice } from './fields.tsx'
import { Note, quiet, Section, Table, words, type Column } from './layout.tsx'

const PRESETS = [
  ['month', 'this month'],
  ['last-month', 'last month'],
  ['7d', 'the last 7 days'],
] as const

/** What was used in a period, and when callwatch did not see the targets. */
export function Usage({ state }: { state: State }) {
  const { answer, problem, request, asOf } = state.usage
  const now = nowOf(state)
  const by = keysOf(state.query)
  const toggle = (key: string) => {
    const keys = KEYS.filter((one) => by.includes(one) !== (one === key))
    changeAddress({ by: keys.join() || 'none' })
  }
  return (
    <Section id="usage-report" title="Usage">
      <Form>
        <PeriodChoice state={state} presets={PRESETS} otherwise="month" asOf={asOf} />
        <TargetChoice state={state} />
        <fieldset>
          <legend>A row for each</legend>
          {KEYS.map((key) => (
            <label class="check">
              <input type="checkbox" checked={by.includes(key)} onChange={() => toggle(key)} />
              {` ${nameOf(key).toLowerCase()}`}
            </label>
          ))}
        </fieldset>
        <Download request={`report?${request}`} format="csv" name="usage" />
      </Form>
      <Note id="usage-note" problem={problem} isLoading={answer === undefined}>
        {answer !== undefined && (
          <p>{`Calls that finished from ${momentInZone(answer.since, now)} until ${momentInZone(answer.until, now)}. Days are those of ${answer.zone}.`}</p>
        )}
      </Note>
      {answer !== undefined && [<Coverage coverage={answer.coverage} now={now} />, table(answer.rows, by)]}
    </Section>
  )
}

const nameOf = (key: string) => capital(key.replace('_', ' '))

/** A row of a report, or the sums of all rows, which have neither ratios nor durations. */
type Row = Partial<Report['rows'][number]> & ReturnType<typeof totalOf>

function table(rows: Report['rows'], by: readonly (typeof KEYS)[number][]) {
  if (rows.length === 0) return quiet('No call finished in this period.')
  const number = (title: string, of: (row: Row) => string): Column<Row> => [title, of, 'number']
  const duration = (seconds: number | null | undefined) =>
    seconds === undefined ? '' : seconds === null ? '–' : formatSeconds(seconds)
  const columns: Column<Row>[] = [
    ...(by.length === 0
      ? [['Rows', () => 'all'] as const]
      : by.map((key, i): Column<Row> => [nameOf(key), (row) => row[key] ?? (i === 0 ? 'all' : '')])),
    number('Calls', ({ calls }) => formatNumber(sum(OUTCOMES, (outcome) => calls[outcome]))),
    ...OUTCOMES.map((outcome) => number(capital(outcome), ({ calls }) => formatNumber(calls[outcome]))),
    number('Audio min', ({ minutes }) => formatNumber(minutes.audio)),
    number('Video min', ({ minutes }) => formatNumber(minutes.video)),
    number('Participant audio min', (row) => formatNumber(row.participant_minutes.audio)),
    number('Participant video min', (row) => formatNumber(row.participant_minutes.video)),
    number('User min', ({ user_minutes }) => formatNumber(user_minutes)),
    number('Failure ratio', ({ failure_ratio: ratio }) =>
      ratio === undefined ? '' : ratio === null ? '–' : formatShare(ratio),
    ),
    number('Mean duration', ({ duration_seconds: lasted }) => duration(lasted && lasted.mean)),
    number('95th percentile', ({ duration_seconds: lasted }) => duration(lasted && lasted.p95)),
    number('Noticed late', ({ noticed_late }) => formatNumber(noticed_late)),
  ]
  const items: Row[] = [...rows, ...(rows.length > 1 ? [totalOf(rows)] : [])]
  return (
    <Table
      caption="Calls by outcome, minutes and durations"
      columns={columns}
      items={items}
      look={(row) => (items.indexOf(row) === rows.length ? 'total' : '')}
    />
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
  const targets = [...new Set(blind.map(({ target }) => target))].join(', ')
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
        <Table caption="Times that are not covered, by target" columns={columns} items={blind} />
      </details>
    </>
  )
}
