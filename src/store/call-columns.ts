import {
  BASELINE_CODE,
  finalStatusOf,
  labelCode,
  labelsOfCode,
  LOST_CODE,
  statusCode,
  statusOf,
} from '../ledger/call-codes.ts'
import { answeredTimes } from '../ledger/delta/observe-call.ts'
import type { FinalStatus } from '../ledger/call.ts'
import { beganAt, MARK, type Finish, type TrackedCall } from '../ledger/tracked-call.ts'
import type { Value } from './sql.ts'
import type { Kind } from './tables.ts'

/*
 * Converts a tracked call to its row and back. Stores contain these codes and those of ledger/call-codes.ts, so add values at the
 * end only.
 */
const PHASES = ['open', 'lost', 'final', 'baseline'] as const satisfies readonly TrackedCall['phase'][]
const phaseCode = (phase: TrackedCall['phase']) => PHASES.indexOf(phase)

const ENDED = statusCode('ended')
/** The duration of an answered call, as in ledger/delta/observe-call.ts. */
const between = (from: string, to: string) =>
  `CASE WHEN finish_status = ${ENDED} AND ${to} >= ${from} THEN ${to} - ${from} END`

/**
 * The values of a call that SQL queries use: the history, its rollups, and `call_history` (docs/sql.md). Times are UNIX seconds by
 * the service's clock. Minutes are those that the service showed last. Null means unknown.
 */
export const SHOWN = {
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
  participants: 'CASE WHEN finish_at IS NULL THEN joined ELSE total_participants END',
} as const

/** Selects open calls of configured targets. It is the condition of an index, so queries must use exactly this text. */
export const IS_OPEN = `finished IS NULL AND status <> ${BASELINE_CODE}`

/** The values of {@link SHOWN} that are not columns of the table, each with its name. */
export function shown(...names: readonly (keyof typeof SHOWN)[]): string {
  return names.map((name) => `${SHOWN[name]} AS ${name}`).join(', ')
}

/*
 * Some values of a finished call almost always follow from its other values. They are null then. A value that is unknown although
 * another one follows is UNKNOWN. No known one is negative.
 */
const UNKNOWN = -1
const unlessSame = (value: number | undefined, expected: number | undefined) =>
  value === expected ? undefined : (value ?? UNKNOWN)
const expectedUnless = (stored: number | undefined, expected: number | undefined) =>
  stored === undefined ? expected : stored === UNKNOWN ? undefined : stored

const CORRECTABLE = ['began', 'answerDelay', 'duration', 'audio', 'video'] as const satisfies readonly (keyof Finish)[]
type Correctable = { -readonly [K in (typeof CORRECTABLE)[number]]: Finish[K] }

/** The values of a call's finish, unless the call was corrected after its end. */
function finishNow(call: TrackedCall, status: FinalStatus): Correctable {
  const [audio = 0, video = 0] = call.counted
  return { began: beganAt(call), ...answeredTimes(call, status), audio, video }
}

const corrected =
  (name: keyof Correctable) =>
  ({ finish }: TrackedCall, expected: Correctable | undefined): number | undefined =>
    finish && unlessSame(finish[name], expected?.[name])

/** Nobody is in a finished call. */
const JOINED_AT_LAST = 0

type ValueOf = (call: TrackedCall, expected: Correctable | undefined) => Value | undefined

/** The columns of a call, each with its type and value, which may depend on {@link finishNow}. Undefined is stored as null. */
const COLUMNS = {
  id: ['text', ({ id }) => id],
  phase: ['small', ({ phase }) => phaseCode(phase)],
  last_status: ['small', ({ status }) => statusCode(status)],
  last_labels: ['small', ({ labels }) => labelCode(labels)],
  first_seen: ['real', ({ firstSeen }) => firstSeen],
  initiated: ['real?', ({ initiatedAt }) => initiatedAt],
  started: ['real?', ({ startedAt }) => startedAt],
  ended: ['real?', ({ endedAt }) => endedAt],
  total_participants: ['real?', ({ totalParticipants }) => totalParticipants],
  joined: ['real?', ({ joined, finish }) => (finish === undefined ? joined : unlessSame(joined, JOINED_AT_LAST))],
  audio: ['real', ({ counted }) => counted[0]],
  video: ['real', ({ counted }) => counted[1]],
  participant_audio: ['real', ({ counted }) => counted[2]],
  participant_video: ['real', ({ counted }) => counted[3]],
  not_found: ['small', ({ notFound }) => notFound],
  retain_until: ['real?', ({ retainUntil }) => retainUntil],
  marks: ['small', ({ marks }) => marks],
  finish_status: ['small?', ({ finish }) => finish && statusCode(finish.status)],
  finish_labels: ['small?', ({ finish }) => finish && labelCode(finish.labels)],
  finish_at: ['real?', ({ finish }) => finish?.at],
  finish_known: ['real?', ({ finish }) => finish?.known],
  finish_known_host: ['real?', ({ finish }) => finish?.knownHostTime],
  finish_began: ['real?', corrected('began')],
  finish_answer_delay: ['real?', corrected('answerDelay')],
  finish_duration: ['real?', corrected('duration')],
  finish_audio: ['real?', corrected('audio')],
  finish_video: ['real?', corrected('video')],
} as const satisfies Readonly<Record<string, readonly [kind: Kind, value: ValueOf]>>

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- these are its keys
export const CALL_COLUMNS = Object.keys(COLUMNS) as readonly (keyof typeof COLUMNS)[]

/** The type of each column. */
export const KINDS_OF_CALL_COLUMNS: Readonly<Record<string, Kind>> = Object.fromEntries(
  Object.entries(COLUMNS).map(([name, [kind]]) => [name, kind]),
)

const WRITERS: readonly ValueOf[] = Object.values(COLUMNS).map(([, valueOf]) => valueOf)

/**
 * Appends the values of a call's columns to others. A call needs a single array, since an initial sync writes hundreds of
 * thousands.
 */
export function valuesOf(call: TrackedCall, ...values: Value[]): Value[] {
  const expected = call.finish && finishNow(call, call.finish.status)
  for (const valueOf of WRITERS) values.push(valueOf(call, expected) ?? null)
  return values
}

/** Reads a call from its values, in the order of COLUMNS. */
export function callOf(values: readonly unknown[]): TrackedCall {
  const number = (at: number) => Number(values[at])
  const known = (at: number) => (values[at] === null ? undefined : Number(values[at]))
  const call: { -readonly [K in keyof TrackedCall]: TrackedCall[K] } = {
    id: String(values[0]),
    phase: PHASES[number(1)]!,
    status: statusOf(number(2)),
    labels: labelsOfCode(number(3)),
    firstSeen: number(4),
    initiatedAt: known(5),
    startedAt: known(6),
    endedAt: known(7),
    totalParticipants: known(8),
    joined: known(9),
    counted: [number(10), number(11), number(12), number(13)],
    notFound: number(14),
    retainUntil: known(15),
    marks: number(16),
    finish: undefined,
  }
  if (values[17] === null) return call
  const status = finalStatusOf(number(17))
  const correctable = finishNow(call, status)
  for (const [i, name] of CORRECTABLE.entries())
    Object.assign(correctable, { [name]: expectedUnless(known(22 + i), correctable[name]) })
  const finish = {
    status,
    labels: labelsOfCode(number(18)),
    at: number(19),
    known: number(20),
    knownHostTime: number(21),
  }
  call.joined = expectedUnless(call.joined, JOINED_AT_LAST)
  call.finish = { ...finish, ...correctable }
  return call
}

/** Reads a call from a row with {@link CALL_COLUMNS}. */
export function callOfRow(row: Readonly<Record<string, unknown>>): TrackedCall {
  return callOf(CALL_COLUMNS.map((name) => row[name]))
}
