import {
  ALL_LABELS,
  type CallMode,
  type CallStatus,
  type CallType,
  type Labels,
  type ReceiverType,
} from '../ledger/call.ts'
import { labelCode, statusCode } from '../ledger/call-codes.ts'
import { BASELINE_CODE, LOST_CODE } from '../ledger/history-columns.ts'
import { MARK, type TrackedCall } from '../ledger/tracked-call.ts'

/** A status in the history: that of the finish, or `lost`. */
export type HistoryStatus = CallStatus | 'lost'

/** Selects calls that finished or were lost: those that meet all conditions given. */
export type CallFilter = {
  targets?: readonly string[] | undefined
  type?: CallType | undefined
  mode?: CallMode | undefined
  receiverType?: ReceiverType | undefined
  /** One of these. */
  statuses?: readonly HistoryStatus[] | undefined
  hasRecording?: boolean | undefined
  /** How the session id begins. */
  sessionId?: string | undefined
}

/** Collects the arguments of a query; returns the name of each in its text. */
export type AddArgument = (value: string | number) => string

/** The arguments of a query, and how to add one. */
export function queryArguments(): { args: (string | number)[]; add: AddArgument } {
  const args: (string | number)[] = []
  return { args, add: (value) => `$${args.push(value)}` }
}

/**
 * The conditions of a filter on rows of `targets` and `calls`.
 *
 * @param numbers of the targets that it selects: by them and the time PostgreSQL finds calls in its index, whatever it takes for
 * the number of targets
 */
export function conditionsOf(filter: CallFilter, numbers: readonly number[], add: AddArgument): string {
  const { statuses, hasRecording, sessionId = '' } = filter
  const labels = ALL_LABELS.filter((each) => matchesLabels(filter, each)).map(labelCode)
  return [
    'target = number',
    `status <> ${BASELINE_CODE}`,
    `target IN (${numbers.join(', ') || 'NULL'})`,
    ...(statuses === undefined ? [] : [`status IN (${statuses.map(codeOf).join(', ')})`]),
    ...(labels.length === ALL_LABELS.length ? [] : [`labels IN (${labels.join(', ')})`]),
    // The column is a number in one kind of store and a truth value in the other.
    ...(hasRecording === undefined ? [] : [`${hasRecording ? '' : 'NOT '}recorded`]),
    ...(sessionId === '' ? [] : [`id >= ${add(sessionId)}`, `id < ${add(endOfPrefix(sessionId))}`]),
  ].join(' AND ')
}

function codeOf(status: HistoryStatus): number {
  return status === 'lost' ? LOST_CODE : statusCode(status)
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

/** Whether a call with these labels is selected. */
export function matchesLabels(
  { type, mode, receiverType }: Pick<CallFilter, 'type' | 'mode' | 'receiverType'>,
  labels: Labels,
): boolean {
  return [
    [type, labels.type],
    [mode, labels.mode],
    [receiverType, labels.receiverType],
  ].every(([wanted, value]) => wanted === undefined || wanted === value)
}

/** The first text, in the order of UTF-8, after all that begin with a prefix. */
function endOfPrefix(prefix: string): string {
  return `${prefix}\u{10ffff}`
}
