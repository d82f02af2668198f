import {
  BASELINE_CODE,
  finalStatusOf,
  labelCode,
  labelsOfCode,
  LOST_CODE,
  statusCode,
  statusOf,
} from '../ledger/call-codes.ts'
import { MARK, type TrackedCall } from '../ledger/tracked-call.ts'
import type { Value } from './sql.ts'

/*
 * A tracked call and its row, which has each value of it once. Stores contain these codes and those of ledger/call-codes.ts: add
 * values at the end only.
 */
const PHASES = ['open', 'lost', 'final', 'baseline'] as const satisfies readonly TrackedCall['phase'][]
const phaseCode = (phase: TrackedCall['phase']) => PHASES.indexOf(phase)

const ENDED = statusCode('ended')
/** How long an answered call took, as ledger/observe-call.ts has it. */
const between = (from: string, to: string) =>
  `CASE WHEN finish_status = ${ENDED} AND ${to} >= ${from} THEN ${to} - ${from} END`

/**
 * What SQL shows of a call, from the columns of its row: the history, what is added up of it, and `call_history` (docs/sql.md).
 * Times are UNIX seconds by the service's clock, minutes as the service last said; null where nothing is known.
 */
export const SHOWN = {
  /** Or was lost; of an open call of a target that left the configuration, then. */
  finished: `coalesce(unseen_since, CASE WHEN phase = ${phaseCode('lost')} THEN retain_until ELSE finish_at END)`,
  status: `CASE WHEN phase = ${phaseCode('baseline')} THEN ${BASELINE_CODE}
    WHEN phase = ${phaseCode('lost')} OR unseen_since IS NOT NULL THEN ${LOST_CODE} ELSE coalesce(finish_status, last_status) END`,
  labels: 'coalesce(finish_labels, last_labels)',
  recorded: `(marks & ${MARK.recordingSeen}) <> 0`,
  began: 'coalesce(initiated, started, ended, first_seen)',
  /** When callwatch noticed that it had finished. */
  noticed: `CASE WHEN status = ${LOST_CODE} THEN finished ELSE finish_known END`,
  duration: between('started', 'ended'),
  answer_delay: between('initiated', 'started'),
  participants: 'CASE WHEN finish_at IS NULL THEN joined ELSE total_participants END',
} as const

/** Of an open call whose target is configured: the condition of an index, so always these words. */
export const IS_OPEN = `finished IS NULL AND status <> ${BASELINE_CODE}`

/** Columns of {@link SHOWN} that are none of the table's, each under its name. */
export function shown(...names: readonly (keyof typeof SHOWN)[]): string {
  return names.map((name) => `${SHOWN[name]} AS ${name}`).join(', ')
}

/** The columns of a call, in the order of {@link valuesOf}; SHOWN follows from them. */
export const CALL_COLUMNS = [
  'id',
  'phase',
  'last_status',
  'last_labels',
  'first_seen',
  'initiated',
  'started',
  'ended',
  'total_participants',
  'joined',
  'audio',
  'video',
  'participant_audio',
  'participant_video',
  'not_found',
  'retain_until',
  'marks',
  'finish_status',
  'finish_labels',
  'finish_at',
  'finish_known',
  'finish_known_host',
  'finish_began',
  'finish_answer_delay',
  'finish_duration',
  'finish_audio',
  'finish_video',
] as const

/** The values of a call's columns, behind others: one array a call, since first polls write hundreds of thousands. */
export function valuesOf(call: TrackedCall, ...first: readonly Value[]): Value[] {
  const { finish } = call
  const values: Value[] = [
    ...first,
    call.id,
    phaseCode(call.phase),
    statusCode(call.status),
    labelCode(call.labels),
    call.firstSeen,
    call.initiatedAt ?? null,
    call.startedAt ?? null,
    call.endedAt ?? null,
    call.totalParticipants ?? null,
    call.joined ?? null,
    ...call.counted,
    call.notFound,
    call.retainUntil ?? null,
    call.marks,
  ]
  if (finish === undefined) values.push(null, null, null, null, null, null, null, null, null, null)
  else {
    const {
      status,
      labels,
      at,
      known,
      knownHostTime,
      began,
      answerDelay = null,
      duration = null,
      audio,
      video,
    } = finish
    values.push(
      statusCode(status),
      labelCode(labels),
      at,
      known,
      knownHostTime,
      began,
      answerDelay,
      duration,
      audio,
      video,
    )
  }
  return values
}

/** The call of such values. */
export function callOf(values: readonly unknown[]): TrackedCall {
  const number = (at: number) => Number(values[at])
  const known = (at: number) => (values[at] === null ? undefined : Number(values[at]))
  return {
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
    finish:
      values[17] === null
        ? undefined
        : {
            status: finalStatusOf(number(17)),
            labels: labelsOfCode(number(18)),
            at: number(19),
            known: number(20),
            knownHostTime: number(21),
            began: number(22),
            answerDelay: known(23),
            duration: known(24),
            audio: number(25),
            video: number(26),
          },
  }
}

/** The same of a row with {@link CALL_COLUMNS}. */
export function callOfRow(row: Readonly<Record<string, unknown>>): TrackedCall {
  return callOf(CALL_COLUMNS.map((name) => row[name]))
}
