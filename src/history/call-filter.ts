import { ALL_LABELS, CALL_STATUSES, type Labels } from '../ledger/call.ts'
import { BASELINE_CODE, labelCode, LOST_CODE, statusCode } from '../ledger/call-codes.ts'
import { sessionOf } from '../ledger/identity.ts'
import { idsFor, type SessionIds } from '../ledger/session-id.ts'
import { MARK, type TrackedCall } from '../ledger/tracked-call.ts'
import { CALL_VALUES } from '../store/call-columns.ts'
import type { Row, RowReader } from '../store/sql.ts'

/** The status of a call, or `lost` in the history. */
export const HISTORY_STATUSES = [...CALL_STATUSES, 'lost'] as const
export type HistoryStatus = (typeof HISTORY_STATUSES)[number]

/** Selects calls whose labels meet all given conditions. */
export type LabelFilter = { readonly [Label in keyof Labels]?: Labels[Label] | undefined }

/** Selects calls that finished or were lost, and that meet all given conditions. */
export type CallFilter = LabelFilter & {
  targets?: readonly string[] | undefined
  /** The call must have one of these statuses. */
  statuses?: readonly HistoryStatus[] | undefined
  hasRecording?: boolean | undefined
  /** When the call began (UNIX seconds): `since` is included, `until` is not. */
  began?: { since: number; until: number }
  /** How the session id begins. */
  sessionIds?: SessionIds | undefined
}

/** Adds an argument to a query, and returns its placeholder. */
export type AddArgument = (value: string | number) => string

/** The rows of a query, which adds its arguments where it needs them. */
export function select(store: RowReader, query: (add: AddArgument) => string): Promise<Row[]> {
  const args: (string | number)[] = []
  const statement = query((value) => `$${args.push(value)}`)
  return store.rows(statement, args)
}

/**
 * A query of the calls that a filter selects, with their targets.
 *
 * @param numbers of the selected targets. With these and the time, PostgreSQL uses its index of calls, however many targets
 *   it expects.
 * @param rest further conditions, and what follows them
 */
export const callsQuery =
  (columns: string, filter: CallFilter, numbers: readonly number[], rest: (add: AddArgument) => string) =>
  (add: AddArgument) =>
    `SELECT ${columns} FROM callwatch.targets CROSS JOIN callwatch.calls
    WHERE ${conditionsOf(filter, numbers, add)} ${rest(add)}`

/** The rows of the calls that a filter selects ({@link callsQuery}). */
export const selectCalls = (store: RowReader, ...query: Parameters<typeof callsQuery>) =>
  select(store, callsQuery(...query))

function conditionsOf(filter: CallFilter, numbers: readonly number[], add: AddArgument): string {
  const { statuses, hasRecording, began, sessionIds } = filter
  const labels = labelCodes(filter)
  const codes = statuses?.map((status) => (status === 'lost' ? LOST_CODE : statusCode(status)))
  return [
    'target = number',
    `status <> ${BASELINE_CODE}`,
    `target IN (${numbers.join(', ') || 'NULL'})`,
    ...(codes === undefined ? [] : [`status IN (${codes.join(', ')})`]),
    ...(labels.length === ALL_LABELS.length ? [] : [`labels IN (${labels.join(', ')})`]),
    // The column is a number in SQLite and a boolean in PostgreSQL.
    ...(hasRecording === undefined ? [] : [`${hasRecording ? '' : 'NOT '}recorded`]),
    ...(began === undefined
      ? []
      : [`${CALL_VALUES.began} >= ${add(began.since)}`, `${CALL_VALUES.began} < ${add(began.until)}`]),
    ...(sessionIds === undefined ? [] : [ofSessions(sessionIds, numbers, add)]),
  ].join(' AND ')
}

/**
 * Calls whose session ids have a beginning, in the order of UTF-8. With conditions in place of the subqueries, SQLite would read all calls of
 * the targets. A call has no session in its row if it is the call id.
 */
function ofSessions({ given, others }: SessionIds, numbers: readonly number[], add: AddArgument): string {
  const rows = [[null, given] as const, ...others].map(([target, id]) => {
    const name = target === null ? 'NULL' : add(target)
    return `(CAST(${name} AS TEXT), CAST(${add(id)} AS TEXT), CAST(${add(`${id}\u{10ffff}`)} AS TEXT))`
  })
  const [one, other] = [
    'c.session IS NULL AND c.id >= first AND c.id < past',
    'c.session >= first AND c.session < past',
  ].map(
    (isOf) => `SELECT c.target, c.id FROM asked JOIN callwatch.targets AS t ON asked.name IS NULL OR asked.name = t.name
      CROSS JOIN callwatch.calls AS c WHERE c.target = t.number AND t.number IN (${numbers.join(', ') || 'NULL'}) AND ${isOf}`,
  )
  return `(target, id) IN (WITH asked(name, first, past) AS (VALUES ${rows.join(', ')}) ${one} UNION ALL ${other})`
}

type SelectedCall = Pick<TrackedCall, 'id' | 'session' | 'labels' | 'marks'> & { target: string; status: HistoryStatus }

/** Whether the filter selects a call, but for the names of targets. */
export function isSelected(filter: CallFilter, call: SelectedCall): boolean {
  const { target, labels, status, marks } = call
  const { hasRecording, sessionIds } = filter
  return (
    matchesLabels(filter, labels) &&
    (filter.statuses === undefined || filter.statuses.includes(status)) &&
    (hasRecording === undefined || hasRecording === ((marks & MARK.recordingSeen) !== 0)) &&
    (sessionIds === undefined || idsFor(target, sessionIds).some((id) => sessionOf(call).startsWith(id)))
  )
}

/** The codes of the selected labels. */
export function labelCodes(filter: LabelFilter): number[] {
  return ALL_LABELS.filter((labels) => matchesLabels(filter, labels)).map(labelCode)
}

function matchesLabels(filter: LabelFilter, labels: Labels): boolean {
  return (['type', 'mode', 'receiverType'] as const).every((name) => (filter[name] ?? labels[name]) === labels[name])
}
