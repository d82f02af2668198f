import { finalStatusOf, labelCode, labelsOfCode, phaseCode, phaseOf, statusCode, statusOf } from './call-codes.ts'
import type { AnsweredValues } from './call.ts'
import type { TrackedCall } from './tracked-call.ts'

/**
 * How a field of a call is kept: the kind of its column in SQL, where `?` means that it may be null; its bytes in memory, where 8
 * are a float; and its value. An answered value also has its name, which the service uses as well.
 */
type Field = readonly [
  kind: 'text' | 'text?' | 'real' | 'real?' | 'digest?' | 'small' | 'small?',
  bytes: 0 | 1 | 2 | 8,
  valueOf: (call: TrackedCall) => string | number | undefined,
  answered?: keyof AnsweredValues,
]

const answered = (name: keyof AnsweredValues) => ['real?', 8, (call: TrackedCall) => call[name], name] as const

/** The fields of a call by their columns, in the order of the columns. Stores contain these: add at the end only. */
export const CALL_FIELDS = {
  // In memory it is the key.
  id: ['text', 0, ({ id }) => id],
  phase: ['small', 1, ({ phase }) => phaseCode(phase)],
  last_status: ['small', 1, ({ status }) => statusCode(status)],
  last_labels: ['small', 1, ({ labels }) => labelCode(labels)],
  first_seen: ['real', 8, ({ firstSeen }) => firstSeen],
  initiated: answered('initiatedAt'),
  started: answered('startedAt'),
  ended: answered('endedAt'),
  total_participants: answered('totalParticipants'),
  joined: ['real?', 8, ({ joined }) => joined],
  audio: ['real', 8, ({ minutes }) => minutes[0]],
  video: ['real', 8, ({ minutes }) => minutes[1]],
  participant_audio: ['real', 8, ({ minutes }) => minutes[2]],
  participant_video: ['real', 8, ({ minutes }) => minutes[3]],
  not_found: ['small', 1, ({ notFound }) => notFound],
  retain_until: ['real?', 8, ({ retainUntil }) => retainUntil],
  marks: ['small', 2, ({ marks }) => marks],
  finish_status: ['small?', 1, ({ finish }) => finish && statusCode(finish.status)],
  finish_labels: ['small?', 1, ({ finish }) => finish && labelCode(finish.labels)],
  finish_at: ['real?', 8, ({ finish }) => finish?.at],
  finish_known: ['real?', 8, ({ finish }) => finish?.known],
  finish_known_host: ['real?', 8, ({ finish }) => finish?.knownHostTime],
  finish_began: ['real?', 8, ({ finish }) => finish?.began],
  finish_answer_delay: ['real?', 8, ({ finish }) => finish?.answerDelay],
  finish_duration: ['real?', 8, ({ finish }) => finish?.duration],
  finish_audio: ['real?', 8, ({ finish }) => finish?.audio],
  finish_video: ['real?', 8, ({ finish }) => finish?.video],
  mid: ['digest?', 8, ({ mid }) => mid, 'mid'],
  session: ['text?', 0, ({ session }) => session],
  invited_joined: ['small?', 2, ({ finish }) => finish?.invited?.joined],
  invited_absent: ['small?', 2, ({ finish }) => finish?.invited?.absent],
} as const satisfies Readonly<Record<string, Field>>

export type CallColumn = keyof typeof CALL_FIELDS

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- these are its keys
export const CALL_COLUMNS = Object.keys(CALL_FIELDS) as readonly CallColumn[]

/** The names of {@link AnsweredValues}. */
export const ANSWERED = Object.values<Field>(CALL_FIELDS).flatMap(([, , , name]) => name ?? [])

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Object.fromEntries forgets the keys
const AT = Object.fromEntries(CALL_COLUMNS.map((name, i) => [name, i])) as Record<CallColumn, number>

/** NaN means that the number is unknown, or null. */
export const orUndefined = (number: number) => (Number.isNaN(number) ? undefined : number)

export type Mutable<T> = { -readonly [K in keyof T]: T[K] }

/** A call of its id and the numbers of its columns, each at the column's place in CALL_COLUMNS; NaN is null. */
export function callOfNumbers(id: string, numbers: Float64Array, session?: string): Mutable<TrackedCall> {
  const number = (at: number) => numbers[at]!
  const known = (at: number) => orUndefined(numbers[at]!)
  return {
    id,
    phase: phaseOf(number(AT.phase)),
    status: statusOf(number(AT.last_status)),
    labels: labelsOfCode(number(AT.last_labels)),
    firstSeen: number(AT.first_seen),
    initiatedAt: known(AT.initiated),
    startedAt: known(AT.started),
    endedAt: known(AT.ended),
    totalParticipants: known(AT.total_participants),
    mid: known(AT.mid),
    joined: known(AT.joined),
    minutes: [number(AT.audio), number(AT.video), number(AT.participant_audio), number(AT.participant_video)],
    finish: Number.isNaN(number(AT.finish_known))
      ? undefined
      : {
          status: finalStatusOf(number(AT.finish_status)),
          labels: labelsOfCode(number(AT.finish_labels)),
          at: number(AT.finish_at),
          known: number(AT.finish_known),
          knownHostTime: number(AT.finish_known_host),
          began: number(AT.finish_began),
          answerDelay: known(AT.finish_answer_delay),
          duration: known(AT.finish_duration),
          audio: number(AT.finish_audio),
          video: number(AT.finish_video),
          invited: Number.isNaN(number(AT.invited_joined))
            ? undefined
            : { joined: number(AT.invited_joined), absent: number(AT.invited_absent) },
        },
    notFound: number(AT.not_found),
    retainUntil: known(AT.retain_until),
    marks: number(AT.marks),
    session,
  }
}
