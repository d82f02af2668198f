import * as z from 'zod'
import {
  FINAL_STATUSES,
  MODES,
  OPEN_STATUSES,
  PARTICIPANT_STATES,
  RECEIVER_TYPES,
  TYPES,
  type CallStatus,
  type SeenCall,
  type SeenMinutes,
  type SeenParticipant,
} from '../ledger/call.ts'
import type { InvalidReason } from '../ledger/series.ts'
import { isObject } from './json-object.ts'

const DOCUMENTED_STATUSES = [...OPEN_STATUSES, ...FINAL_STATUSES]
/** More minutes than 50 participants can spend in a month are a bad value. */
export const MAX_MINUTES = 50 * 31 * 24 * 60
/** More than 50 participants are an anomaly. More than this are a bad value, which would make sums useless. */
const MAX_PEOPLE = 1e6
/** A longer list of participants is a bad value. */
const MAX_ENTRIES = 10_000
/** Larger numbers are times in milliseconds. */
const MAX_SECONDS = 1e11
const DAY = 86_400
/** A time further ahead is never used. A nearer time may be used once it is at most a day ahead. */
const TEN_YEARS = 3653 * DAY

// Only sessionId and status are required. An invalid number becomes NaN here and a `badValue` below; a missing number becomes
// undefined.
const given = (value: unknown) =>
  value !== undefined && value !== null && !(typeof value === 'string' && value.trim() === '')
const toNumber = (value: unknown) => {
  if (!given(value)) return undefined
  const read = typeof value === 'string' ? Number(value) : value
  return typeof read === 'number' && Number.isFinite(read) && read >= 0 ? read : Number.NaN
}
const toPeople = (value: unknown) => {
  const read = toNumber(value)
  return read !== undefined && read > MAX_PEOPLE ? Number.NaN : read
}
const toMinutes = (value: unknown) => {
  const read = toNumber(value)
  return read !== undefined && read > MAX_MINUTES ? Number.NaN : read
}
// 0 means no time, since no call was made in 1970.
const toTime = (value: unknown) => {
  const read = toNumber(value)
  if (read === undefined || read === 0) return undefined
  return read > MAX_SECONDS ? read / 1000 : read
}
const people = z.unknown().optional().transform(toPeople)
const minutes = z.unknown().optional().transform(toMinutes)
const time = z.unknown().optional().transform(toTime)
const text = z.string().optional().catch(undefined)
const list = z.array(z.unknown()).optional().catch(undefined)
const flag = z
  .unknown()
  .optional()
  .transform((value) => value === true || value === 1 || value === '1' || value === 'true')

const wireCall = z.compile(
  z.object({
    status: z.string().min(1),
    type: text,
    mode: text,
    receiverType: text,
    initiatedAt: time,
    startedAt: time,
    endedAt: time,
    totalAudioMinutes: minutes,
    totalVideoMinutes: minutes,
    totalDurationInMinutes: minutes,
    totalParticipants: people,
    hasRecording: flag,
    recordings: list,
    participants: list,
  }),
)

const wireParticipant = z.compile(
  z.object({
    totalAudioMinutes: minutes,
    totalVideoMinutes: minutes,
    totalDurationInMinutes: minutes,
    // The published sample has minutes as a float, other places have `HH:MM:SS`. Only a number means minutes.
    totalDuration: z
      .unknown()
      .optional()
      .transform((value) => (typeof value === 'number' ? toMinutes(value) : undefined)),
    isJoined: flag,
    leftAt: z
      .unknown()
      .optional()
      .transform((value) => toTime(value) !== undefined),
  }),
)
type WireParticipant = z.output<typeof wireParticipant>

export type ReadCallOptions = {
  /** Further spellings of statuses, in lower case. */
  statusMap: ReadonlyMap<string, CallStatus>
  /** The service's clock (UNIX seconds). */
  now: number
  /** Called with each undocumented value. Such a value counts as `other`. */
  onUnknown: (field: string, value: string) => void
  /** Whether to read the participants. */
  participants?: boolean | undefined
}

/** Reads an item of a list: the call, or the reason why the item is invalid. */
export function readCall(item: unknown, options: ReadCallOptions): SeenCall | InvalidReason {
  if (!isObject(item)) return 'not_an_object'
  const id = readSessionId(item['sessionId'])
  if (id === undefined) return 'no_session_id'
  const parsed = wireCall.safeParse(item)
  if (!parsed.success) return 'no_status'
  const wire = parsed.data
  const isTooLong = (wire.participants?.length ?? 0) > MAX_ENTRIES
  const items = isTooLong ? undefined : wire.participants?.filter(isObject)
  const entries = items?.map((entry) => wireParticipant.parse(entry))
  const callMinutes: SeenMinutes = { audio: wire.totalAudioMinutes, video: wire.totalVideoMinutes, total: undefined }
  if (callMinutes.audio === undefined && callMinutes.video === undefined)
    callMinutes.total = wire.totalDurationInMinutes
  const participantMinutes = sumEntries(entries ?? [])
  const plausible: Plausible = (time) => (time !== undefined && time <= options.now + DAY ? time : undefined)
  const latest = Math.max(wire.initiatedAt ?? 0, wire.startedAt ?? 0, wire.endedAt ?? 0)
  const call: SeenCall = {
    id,
    status: readStatus(wire.status, options),
    type: readLabel('type', wire.type, TYPES, options),
    mode: readLabel('mode', wire.mode, MODES, options),
    receiverType: readLabel('receiverType', wire.receiverType, RECEIVER_TYPES, options),
    initiatedAt: plausible(wire.initiatedAt),
    startedAt: plausible(wire.startedAt),
    endedAt: plausible(wire.endedAt),
    callMinutes: validMinutes(callMinutes),
    participantMinutes: validMinutes(participantMinutes),
    hasParticipantList: entries !== undefined,
    totalParticipants: validNumber(wire.totalParticipants),
    joined:
      entries === undefined
        ? validNumber(wire.totalParticipants)
        : entries.filter(({ isJoined, leftAt }) => isJoined && !leftAt).length,
    hasRecording: wire.hasRecording || (wire.recordings?.length ?? 0) > 0,
    ahead: latest > options.now + DAY && latest <= options.now + TEN_YEARS ? latest : undefined,
    badValue: isTooLong || hasBadValue(wire, entries ?? []),
  }
  if (options.participants === true && items !== undefined)
    call.participants = items.map((item, i) => readParticipant(item, entries![i]!, plausible))
  return call
}

type Plausible = (time: number | undefined) => number | undefined

function readParticipant(
  item: Readonly<Record<string, unknown>>,
  entry: WireParticipant,
  plausible: Plausible,
): SeenParticipant {
  const { uid, state } = item
  const [joinedAt, leftAt] = [plausible(toTime(item['joinedAt'])), plausible(toTime(item['leftAt']))]
  return {
    // A longer integer is inexact, and a missing id is better than a wrong one.
    uid: typeof uid === 'number' && !Number.isSafeInteger(uid) ? undefined : readSessionId(uid),
    state: given(state) ? (PARTICIPANT_STATES.find((known) => known === state) ?? 'other') : undefined,
    joined: entry.isJoined || entry.leftAt || joinedAt !== undefined,
    joinedAt,
    leftAt,
    minutes: validMinutes(sumEntries([entry])),
  }
}

/** An index of PostgreSQL accepts at most 2,704 bytes. */
const MAX_ID_CHARACTERS = 500

/**
 * A session id: a string, or a finite number as its decimal text (quote-long-ids.ts turns long integers into strings).
 * Undefined for anything else. Also for a string that is too long, contains half of a surrogate pair, which can be neither
 * requested nor stored, or contains U+0000, which PostgreSQL cannot store.
 */
export function readSessionId(value: unknown): string | undefined {
  const isUsable = (text: string) =>
    text !== '' && text.length <= MAX_ID_CHARACTERS && text.isWellFormed() && !text.includes('\0')
  if (typeof value === 'string') return isUsable(value) ? value : undefined
  return typeof value === 'number' && Number.isFinite(value) ? String(value) : undefined
}

function readStatus(value: string, { statusMap, onUnknown }: ReadCallOptions): CallStatus {
  const status = value.trim().toLowerCase()
  const known = statusMap.get(status) ?? DOCUMENTED_STATUSES.find((documented) => documented === status)
  if (known === undefined) onUnknown('status', value)
  return known ?? 'other'
}

/** A documented value, or `other` for an undocumented one; undefined if the label is missing. */
function readLabel<T extends string>(
  field: string,
  value: string | undefined,
  known: readonly T[],
  { onUnknown }: ReadCallOptions,
): T | undefined {
  if (value === undefined || value === '') return undefined
  const label = known.find((documented) => documented === value)
  if (label === undefined) onUnknown(field, value)
  return label ?? known.at(-1)
}

/**
 * Participant-level minutes by medium. Entries with a total but neither medium add to `total`. If any entry has minutes of
 * one medium, both are known: an entry with only audio minutes has no video minutes. An invalid number makes its sum invalid,
 * because a sum without it would look like a correction.
 */
function sumEntries(entries: readonly WireParticipant[]): SeenMinutes {
  const sums: SeenMinutes = { audio: undefined, video: undefined, total: undefined }
  for (const { totalAudioMinutes, totalVideoMinutes, totalDurationInMinutes, totalDuration } of entries) {
    const total =
      totalAudioMinutes === undefined && totalVideoMinutes === undefined
        ? (totalDurationInMinutes ?? totalDuration)
        : undefined
    if (total !== undefined) sums.total = (sums.total ?? 0) + total
    if (totalAudioMinutes !== undefined) sums.audio = (sums.audio ?? 0) + totalAudioMinutes
    if (totalVideoMinutes !== undefined) sums.video = (sums.video ?? 0) + totalVideoMinutes
  }
  const isEmpty = sums.audio === undefined && sums.video === undefined && sums.total === undefined
  return isEmpty ? sums : { ...sums, audio: sums.audio ?? 0, video: sums.video ?? 0 }
}

/** Whether any number is invalid. It became NaN, and makes the sum NaN. */
function hasBadValue(wire: z.output<typeof wireCall>, entries: readonly WireParticipant[]): boolean {
  const { initiatedAt = 0, startedAt = 0, endedAt = 0, totalParticipants = 0 } = wire
  let sum = initiatedAt + startedAt + endedAt + totalParticipants + sumOfMinutes(wire)
  for (const entry of entries) sum += sumOfMinutes(entry) + (entry.totalDuration ?? 0)
  return Number.isNaN(sum)
}

function sumOfMinutes({
  totalAudioMinutes = 0,
  totalVideoMinutes = 0,
  totalDurationInMinutes = 0,
}: Pick<WireParticipant, 'totalAudioMinutes' | 'totalVideoMinutes' | 'totalDurationInMinutes'>): number {
  return totalAudioMinutes + totalVideoMinutes + totalDurationInMinutes
}

function validMinutes({ audio, video, total }: SeenMinutes): SeenMinutes {
  // The medium of an invalid total is unknown, so both media are.
  if (Number.isNaN(total)) return { audio: undefined, video: undefined, total: undefined }
  return { audio: validNumber(audio), video: validNumber(video), total: validNumber(total) }
}

function validNumber(value: number | undefined): number | undefined {
  return Number.isNaN(value) ? undefined : value
}
