import { BASELINE_CODE, LOST_CODE, phaseCode, statusCode } from '../ledger/call-codes.ts'
import { CALL_COLUMNS, CALL_FIELDS, callOfNumbers, type CallColumn } from '../ledger/call-fields.ts'
import { valuesNow } from '../ledger/delta/observe-call.ts'
import { MARK, type TrackedCall } from '../ledger/tracked-call.ts'
import type { Value } from './sql.ts'
import type { Kind } from './tables.ts'

export { CALL_COLUMNS }

const ENDED = statusCode('ended')
/** The duration of an answered call, as in ledger/delta/observe-call.ts. */
const between = (from: string, to: string) =>
  `CASE WHEN finish_status = ${ENDED} AND ${to} >= ${from} THEN ${to} - ${from} END`

/**
 * The values of a call that SQL queries use: the history, its rollups, and `call_history` (docs/sql.md). Times are UNIX seconds by
 * the service's clock. Minutes are those that the service showed last. Null means unknown.
 */
export const CALL_VALUES = {
  /** Or when the call was lost. For an open call of a removed target: when the target was removed. */
  finished: `coalesce(unseen_since, CASE WHEN phase = ${phaseCode('lost')} THEN retain_until ELSE finish_at END)`,
  status: `CASE WHEN phase = ${phaseCode('baseline')} THEN ${BASELINE_CODE}
    WHEN phase = ${phaseCode('lost')} OR unseen_since IS NOT NULL THEN ${LOST_CODE} ELSE coalesce(finish_status, last_status) END`,
  labels: 'coalesce(finish_labels, last_labels)',
  recorded: `(marks & ${MARK.recordingSeen}) <> 0`,
  began: 'coalesce(initiated, started, ended, first_seen)',
  /** When callwatch saw that the call had finished. */
  noticed: `CASE WHEN status = ${LOST_CODE} THEN finished ELSE finish_known END`,
  duration: between('started', 'ended'),
  answer_delay: between('initiated', 'started'),
  /** The vendor's published formula, in minutes: the duration × who joined. 0 where either is unknown. */
  user_minutes: `coalesce((${between('started', 'ended')}) / 60 * total_participants, 0)`,
  /** 1 for a finished call of which nobody knows who was invited, as in ledger/delta/invited.ts. */
  invited_unknown: `CASE WHEN finish_at IS NOT NULL AND invited_joined IS NULL AND (marks & ${MARK.detailsWanted}) = 0 THEN 1 ELSE 0 END`,
  participants: 'CASE WHEN finish_at IS NULL THEN joined ELSE total_participants END',
} as const

/** Selects open calls of configured targets. It is the condition of an index, so queries must use exactly this text. */
export const IS_OPEN = `finished IS NULL AND status <> ${BASELINE_CODE}`

/** The values of {@link CALL_VALUES} that are not columns of the table, each with its name. */
export function computedColumns(...names: readonly (keyof typeof CALL_VALUES)[]): string {
  return names.map((name) => `${CALL_VALUES[name]} AS ${name}`).join(', ')
}

/*
 * Some values of a finished call almost always follow from its other values. Its row has null for them then. A value that is
 * unknown although another one follows is UNKNOWN. No known one is negative.
 */
const UNKNOWN = -1
const unlessSame = (value: number | undefined, expected: number | undefined) =>
  value === expected ? undefined : (value ?? UNKNOWN)
const expectedUnless = (stored: number | undefined, expected: number | undefined) =>
  Number.isNaN(stored ?? NaN) ? expected : stored === UNKNOWN ? undefined : stored

/** The values of a call's finish, unless the call was corrected after its end. */
type Correctable = ReturnType<typeof valuesNow>

const unlessExpected =
  (name: keyof Correctable) =>
  ({ finish }: TrackedCall, expected: Correctable | undefined): number | undefined =>
    finish && unlessSame(finish[name], expected?.[name])

/** Nobody is in a finished call. */
const JOINED_AT_LAST = 0

type ValueOf = (call: TrackedCall, expected: Correctable | undefined) => Value | undefined

/** The values of a call that are not stored as they are. They may depend on those of {@link valuesNow}. */
const STORED: Partial<Record<CallColumn, ValueOf>> = {
  joined: ({ joined, finish }) => (finish === undefined ? joined : unlessSame(joined, JOINED_AT_LAST)),
  finish_began: unlessExpected('began'),
  finish_answer_delay: unlessExpected('answerDelay'),
  finish_duration: unlessExpected('duration'),
  finish_audio: unlessExpected('audio'),
  finish_video: unlessExpected('video'),
}

/** The type of each column. */
export const KINDS_OF_CALL_COLUMNS: Readonly<Record<string, Kind>> = Object.fromEntries(
  CALL_COLUMNS.map((name) => [name, CALL_FIELDS[name][0]]),
)

const WRITERS = CALL_COLUMNS.map((name): ValueOf => STORED[name] ?? CALL_FIELDS[name][2])

/**
 * Appends the values of a call's columns to others. A call needs a single array, since an initial sync writes hundreds of
 * thousands. Undefined is stored as null.
 */
export function valuesOf(call: TrackedCall, ...values: Value[]): Value[] {
  const expected = call.finish && valuesNow(call, call.finish.status)
  for (const valueOf of WRITERS) values.push(valueOf(call, expected) ?? null)
  return values
}

const SESSION = CALL_COLUMNS.indexOf('session')
/** The numbers of the row that is being read. */
const numbers = new Float64Array(CALL_COLUMNS.length)

/** Reads a call from its values, in the order of CALL_COLUMNS. */
export function callOf(values: readonly unknown[]): TrackedCall {
  for (let i = 1; i < numbers.length; i++) numbers[i] = values[i] === null ? NaN : Number(values[i])
  const session = values[SESSION]
  const call = callOfNumbers(String(values[0]), numbers, typeof session === 'string' ? session : undefined)
  const { finish } = call
  if (finish === undefined) return call
  const expected = valuesNow(call, finish.status)
  call.joined = expectedUnless(call.joined, JOINED_AT_LAST)
  call.finish = {
    ...finish,
    began: expectedUnless(finish.began, expected.began)!,
    answerDelay: expectedUnless(finish.answerDelay, expected.answerDelay),
    duration: expectedUnless(finish.duration, expected.duration),
    audio: expectedUnless(finish.audio, expected.audio)!,
    video: expectedUnless(finish.video, expected.video)!,
  }
  return call
}

/** Reads a call from a row with {@link CALL_COLUMNS}. */
export function callOfRow(row: Readonly<Record<string, unknown>>): TrackedCall {
  return callOf(CALL_COLUMNS.map((name) => row[name]))
}
