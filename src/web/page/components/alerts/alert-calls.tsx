import { capital, formatNumber, formatShare, plural } from '../../../../text/format.ts'
import { failedOf, periodOf, NO_CALLS, rowLike, type Breakdown, type Row } from '../../model/alerts/alert-page.ts'
import type { Call, PastAlert } from '../../model/api.ts'
import { moment, zone } from '../../model/format.ts'
import { nowOf, type State } from '../../model/state.ts'
import { countOf, OUTCOMES, sum, type Outcome } from '../../model/totals.ts'
import { callLink, durationAt, finishedAt, STATUS } from '../calls.tsx'
import { bar, quiet, Section, soft, statusName, Table, type Column } from '../layout.tsx'

/** The calls that the rule selects next to those of the same time last week; absent without any. */
export function AlertCalls({ state }: { state: State }) {
  const { alert, breakdown } = state.alertPage.answer ?? {}
  const period = periodOf(alert)
  if (breakdown === undefined || period === undefined) return false
  const { now: rows, lastWeek, ...known } = breakdown ?? NO_CALLS
  const kinds = [...rows, ...lastWeek.filter((row) => rowLike(rows, row) === undefined)]
  if (breakdown !== null && kinds.length === 0) return false
  const now = nowOf(state)
  const failed = (kind: Row) => failedOf(alert!)(rowLike(rows, kind))
  const times = `${plural(sum(rows, countOf), 'call')} finished from ${moment(period.since, now)} to ${moment(period.until, now)} ${zone(now)}`
  return (
    <Section id="alert-calls" title="Its calls" note={soft(`${times}, ${comparisonText(lastWeek, known)}`)}>
      {breakdown === null && quiet('The calls could not be loaded.')}
      {kinds.length > 0 && (
        <Table
          caption="Calls by type, mode and receiver type, the most failures first"
          columns={kindColumns(alert!, rows, lastWeek).slice(0, known.isPart && lastWeek.length === 0 ? -2 : undefined)}
          items={kinds.toSorted((a, b) => failed(b) - failed(a))}
        />
      )}
    </Section>
  )
}

function comparisonText({ length }: readonly Row[], { isPart }: Pick<Breakdown, 'isPart'>) {
  if (!isPart) return 'next to last week'
  return length > 0 ? 'not all calls of last week are known' : 'the calls of last week are not known'
}

function kindColumns(alert: PastAlert, rows: readonly Row[], lastWeek: readonly Row[]): Column<Row>[] {
  const { reason = 'any' } = alert
  const failed = failedOf(alert)
  const ratio = (row: Row | undefined) => (countOf(row) === 0 ? '–' : formatShare(failed(row) / countOf(row)))
  const current = (kind: Row) => rowLike(rows, kind)
  const before = (kind: Row) => rowLike(lastWeek, kind)
  return [
    ['Type', ({ type }) => type],
    ['Mode', ({ mode }) => mode],
    ['Receiver', ({ receiver_type }) => receiver_type],
    ['Calls', (kind) => formatNumber(countOf(current(kind))), 'number'],
    [reason === 'any' ? 'Failed' : capital(reason), (kind) => formatNumber(failed(current(kind))), 'number'],
    ['Ratio', (kind) => ratio(current(kind)), 'number'],
    ['Calls last week', (kind) => formatNumber(countOf(before(kind))), 'number'],
    ['Ratio last week', (kind) => ratio(before(kind)), 'number'],
  ]
}

/** How the calls of the alert ended, next to those of last week; absent without any. */
export function AlertOutcomes({ state }: { state: State }) {
  const { alert, breakdown } = state.alertPage.answer ?? {}
  const { now: rows, lastWeek } = breakdown ?? NO_CALLS
  if (rows.length + lastWeek.length === 0) return false
  const total = (of: readonly Row[], outcomes: readonly Outcome[] = OUTCOMES) =>
    sum(of, (row) => countOf(row, outcomes))
  const share = (outcome: Outcome, of: readonly Row[]) => total(of, [outcome]) / total(of)
  const columns: Column<Outcome>[] = [
    ['Outcome', statusName],
    ['Calls', (outcome) => formatNumber(total(rows, [outcome])), 'number'],
    ['Share', (outcome) => [formatShare(share(outcome, rows)), bar(share(outcome, rows), outcome)], 'number'],
    ['Last week', (outcome) => formatShare(share(outcome, lastWeek)), 'number'],
  ]
  // They are more calls than those of the value, whose window has moved.
  const since = moment(periodOf(alert)?.since ?? '', nowOf(state))
  const note = `${plural(total(rows), 'call')} since ${since}${alert?.until === null ? ', when its first window began' : ''}`
  const items = OUTCOMES.filter((outcome) => total([...rows, ...lastWeek], [outcome]) > 0)
  return (
    <Section id="alert-outcomes" title="Outcomes" note={soft(note)}>
      <Table
        caption="Calls by outcome, next to last week"
        columns={total(lastWeek) === 0 ? columns.slice(0, -1) : columns}
        items={total(rows) === 0 ? [] : items}
      />
    </Section>
  )
}

/** The newest calls behind the value, or the oldest of those in progress; absent without any. */
export function AlertNewest({ state }: { state: State }) {
  const { calls = [] } = state.alertPage.answer ?? {}
  if (calls.length === 0) return false
  const now = nowOf(state)
  const isOpen = calls[0]!.finished === undefined
  const columns: Column<Call>[] = [
    isOpen ? [`Began (${zone(now)})`, ({ began }) => moment(began, now)] : finishedAt(now),
    ['Call', callLink, 'session said'],
    ['Type', ({ type, mode }) => `${type} ${mode}`],
    STATUS,
    durationAt(now),
  ]
  return (
    <Section id="alert-newest" title={isOpen ? 'Its oldest calls' : 'Its newest calls'}>
      <Table caption="The first calls of the alert" columns={columns} items={calls} />
    </Section>
  )
}
