import { ALL_LABELS, type CallStatus, type Labels } from '../ledger/call.ts'
import { BASELINE_CODE, labelCode, LOST_CODE, statusCode } from '../ledger/call-codes.ts'
import { MARK, type TrackedCall } from '../ledger/tracked-call.ts'

/** A status in the history: that of the finish, or `lost`. */
export type HistoryStatus = CallStatus | 'lost'

/** Selects calls by their labels: those that meet all conditions given. */
export type LabelFilter = { readonly [Label in keyof Labels]?: Labels[Label] | undefined }

/** Selects calls that finished or were lost: those that meet all conditions given. */
export type CallFilter = LabelFilter & {
  targets?: readonly string[] | undefined
  /** One of these. */
  statuses?: readonly HistoryStatus[] | undefined
  hasRecording?: boolean | undefined
  /** How the session id begins. */
  sessionId?: string | undefined
}

/** The arguments of a query, and how to add one, which returns its name in the text. */
export function queryArguments() {
  const args: (string | number)[] = []
  return { args, add: (value: string | number) => `$${args.push(value)}` }
}

/**
 * The conditions of a filter on rows of `targets` and `calls`.
 *
 * @param numbers of the targets that it selects: by them and the time PostgreSQL finds calls in its index, whatever it takes for
 * the number of targets
 */
export function conditionsOf(filter: CallFilter, numbers: readonly number[], add: (value: string) => string): string {
  const { statuses, hasRecording, sessionId = '' } = filter
  const labels = labelCodes(filter)
  const codes = statuses?.map((status) => (status === 'lost' ? LOST_CODE : statusCode(status)))
  return [
    'target = number',
    `status <> ${BASELINE_CODE}`,
    `target IN (${numbers.join(', ') || 'NULL'})`,
    ...(codes === undefined ? [] : [`status IN (${codes.join(', ')})`]),
    ...(labels.length === ALL_LABELS.length ? [] : [`labels IN (${labels.join(', ')})`]),
    // The column is a number in one kind of store and a truth value in the other.
    ...(hasRecording === undefined ? [] : [`${hasRecording ? '' : 'NOT '}recorded`]),
    // Up to the first text, in the order of UTF-8, after all that begin with it.
    ...(sessionId === '' ? [] : [`id >= ${add(sessionId)}`, `id < ${add(`${sessionId}\u{10ffff}`)}`]),
  ].join(' AND ')
}

/** Whether an open call is selected, whatever its target is. */
export function isSelected(filter: CallFilter, { id, labels, status, marks }: TrackedCall): boolean {
  const { hasRecording, sessionId = '' } = filter
  return (
    matchesLabels(filter, labels) &&
    (filter.statuses === undefined || filter.statuses.includes(status)) &&
    (hasRecording === undefined || hasRecording === ((marks & MARK.recordingSeen) !== 0)) &&
    id.startsWith(sessionId)
  )
}

/** The codes of the labels that are selected. */
export function labelCodes(filter: LabelFilter): number[] {
  return ALL_LABELS.filter((labels) => matchesLabels(filter, labels)).map(labelCode)
}

function matchesLabels(filter: LabelFilter, labels: Labels): boolean {
  return (['type', 'mode', 'receiverType'] as const).every((name) => (filter[name] ?? labels[name]) === labels[name])
}
