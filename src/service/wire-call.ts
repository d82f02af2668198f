import { EARLIEST_TIME } from '../clock/times.ts'
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
import { midOf } from '../ledger/identity.ts'
import type { InvalidReason } from '../ledger/series.ts'
import { isMap } from '../schema/path.ts'
import { flagOf } from './flag.ts'
import { invitedIn } from './invited.ts'

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
const hasValue = (value: unknown) =>
  value !== undefined && value !== null && !(typeof value === 'string' && value.trim() === '')
const toNumber = (value: unknown) => {
  if (!hasValue(value)) return undefined
  const read = typeof value === 'string' ? Number(value) : value
  return typeof read === 'number' && Number.isFinite(read) && read >= 0 ? read : Number.NaN
}
const toPeople = (value: unknown) => {
  const read = toNumber(value)
  return read !== undefined && (read > MAX_PEOPLE || !Number.isInteger(read)) ? Number.NaN : read
}
const toMinutes = (value: unknown) => {
  const read = toNumber(value)
  return read !== undefined && read > MAX_MINUTES ? Number.NaN : read
}
/** A time as ISO 8601. Without a zone it is UTC, as all numbers are. */
const ISO_TIME = /^(\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d:?\d\d)?$/
const toSeconds = (text: string) => {
  const [, time, zone = 'Z'] = ISO_TIME.exec(text.trim()) ?? []
  return time === undefined ? undefined : Date.parse(time + zone) / 1000
}
// 0 means no time, since no call was made in 1970.
const toTime = (value: unknown) => {
  const read = (typeof value === 'string' ? toSeconds(value) : undefined) ?? toNumber(value)
  if (read === undefined || read === 0) return undefined
  return read > MAX_SECONDS ? read / 1000 : read
}
/** The first time of a call, if it has times, and none of them can be read. */
export function unreadTime(item: Readonly<Record<string, unknown>>): string | undefined {
  const given = [item['initiatedAt'], item['startedAt'], item['endedAt']].filter(hasValue)
  return given.every((time) => Number.isNaN(toTime(time))) ? given.map((time) => JSON.stringify(time))[0] : undefined
}
/** Such a time is a bad value, which few rows have. */
function noteUnread(item: Item, { badValue }: SeenCall, { onUnknown }: ReadCallOptions): void {
  const unread = badValue ? unreadTime(item) : undefined
  if (unread !== undefined) onUnknown('time', unread)
}
/** Whether a time of an answer can be true. @param now the service's clock (UNIX seconds) */
export const isPossible = (time: number, now: number) => time >= EARLIEST_TIME && time <= now + DAY
/** The service also sends `users` and `groups`. */
const singular = (value: unknown) => (value === 'users' ? 'user' : value === 'groups' ? 'group' : value)
const toText = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined)
const toFlag = (value: unknown) => flagOf(value) === true

function readMinutes(item: Item): SeenMinutes {
  return {
    audio: toMinutes(item['totalAudioMinutes']),
    video: toMinutes(item['totalVideoMinutes']),
    total: toMinutes(item['totalDurationInMinutes']),
  }
}

/** An entry of the list of participants. */
type Entry = {
  minutes: SeenMinutes
  duration: number | undefined
  isJoined: boolean
  leftAt: number | undefined
  isBad: boolean
}

type Item = Readonly<Record<string, unknown>>
type IsBad = (time: number | undefined) => boolean

function readEntry(item: Item, isBad: IsBad): Entry {
  const { totalDuration } = item
  const minutes = readMinutes(item)
  // The published sample has minutes as a float, other places have `HH:MM:SS`. Only a number means minutes.
  const duration = typeof totalDuration === 'number' ? toMinutes(totalDuration) : undefined
  const leftAt = toTime(item['leftAt'])
  return {
    minutes,
    duration,
    isJoined: toFlag(item['isJoined']),
    leftAt,
    isBad: hasBadMinutes(minutes) || Number.isNaN(duration) || isBad(toTime(item['joinedAt'])) || isBad(leftAt),
  }
}

export type ReadCallOptions = {
  /** Further spellings of statuses, in lower case. */
  statusMap: ReadonlyMap<string, CallStatus>
  /** The service's clock (UNIX seconds). */
  now: number
  /** Called with each undocumented value. Such a value counts as `other`; a `time` counts as missing. */
  onUnknown: (field: string, value: string) => void
  /** Whether to read the participants. */
  participants?: boolean | undefined
  /** Whether to read who called whom. */
  parties?: boolean | undefined
}

/** Reads an item of a list: the call, or the reason why the item is invalid. */
export function readCall(item: unknown, options: ReadCallOptions): SeenCall | InvalidReason {
  if (!isMap(item)) return 'not_an_object'
  const session = readSessionId(item['sessionId'])
  if (session === undefined) return 'no_session_id'
  const status = toText(item['status'])
  if (status === undefined) return 'no_status'
  const { participants } = item
  const items = mapsOf(participants)
  const isBad: IsBad = (time) => time !== undefined && !isPossible(time, options.now)
  const plausible: Plausible = (time) => (isBad(time) ? undefined : time)
  const entries = items?.map((entry) => readEntry(entry, isBad))
  const own = readMinutes(item)
  const initiatedAt = toTime(item['initiatedAt'])
  const startedAt = toTime(item['startedAt'])
  const endedAt = toTime(item['endedAt'])
  const people = toPeople(item['totalParticipants'])
  const call: SeenCall = {
    id: session,
    session,
    mid: readMid(item['mid']),
    status: readStatus(status, options),
    type: readLabel('type', item['type'], TYPES, options),
    mode: readLabel('mode', item['mode'], MODES, options),
    receiverType: readLabel('receiverType', singular(item['receiverType']), RECEIVER_TYPES, options),
    initiatedAt: plausible(initiatedAt),
    startedAt: plausible(startedAt),
    endedAt: plausible(endedAt),
    end: otherEnd(item, entries, plausible),
    callMinutes: validMinutes(own.audio, own.video, unsplit(own)),
    participantMinutes: sumEntries(entries),
    hasParticipantList: entries !== undefined,
    totalParticipants: validNumber(people),
    joined: entries?.filter(isPresent).length ?? validNumber(people),
    invited: invitedIn(item['initiator'], items),
    hasRecording: toFlag(item['hasRecording']) || isLonger(item['recordings'], 0),
    ahead: timeAhead(latestOf(initiatedAt, startedAt, endedAt), options.now),
    badValue:
      isLonger(participants, MAX_ENTRIES) ||
      [initiatedAt, startedAt, endedAt].some(isBad) ||
      areBad(own, people, entries),
  }
  noteUnread(item, call, options)
  addPeople(call, item, { options, entries, plausible })
  return call
}

/** Adds who took part, as far as that is read. */
function addPeople(
  call: SeenCall,
  item: Item,
  {
    options,
    entries,
    plausible,
  }: { options: ReadCallOptions; entries: readonly Entry[] | undefined; plausible: Plausible },
): void {
  const people = mapsOf(item['participants'])
  if (options.participants === true && people !== undefined)
    call.participants = people.map((person, i) => readParticipant(person, entries![i]!, plausible))
  if (options.parties === true)
    call.parties = { initiator: readSessionId(item['initiator']), receiver: readSessionId(item['receiver']) }
}

const isSplit = ({ audio, video }: SeenMinutes) => audio !== undefined || video !== undefined

/** The minutes of which no medium is known. */
const unsplit = (minutes: SeenMinutes, duration?: number) =>
  isSplit(minutes) ? undefined : (minutes.total ?? duration)

/** When a call ended by other times than `endedAt`: when the last participant left, else how long it has lasted (`HH:MM:SS`). */
function otherEnd(item: Item, entries: readonly Entry[] = NO_ENTRIES, plausible: Plausible): number | undefined {
  const left = entries.reduce((latest, { leftAt }) => Math.max(latest, plausible(leftAt) ?? 0), 0)
  if (left > 0) return left
  const { startedAt, totalDuration } = item
  const parts = typeof totalDuration === 'string' ? /^(\d+):(\d\d):(\d\d)$/.exec(totalDuration) : null
  const [hours = 0, minutes = 0, seconds = 0] = parts?.slice(1).map(Number) ?? []
  const lasted = hours * 3600 + minutes * 60 + seconds
  return lasted > 0 ? plausible((toTime(startedAt) ?? NaN) + lasted) : undefined
}

const isLonger = (list: unknown, length: number) => Array.isArray(list) && list.length > length

const mapsOf = (list: unknown) => (Array.isArray(list) && list.length <= MAX_ENTRIES ? list.filter(isMap) : undefined)

const latestOf = (a = 0, b = 0, c = 0) => Math.max(a, b, c)

const timeAhead = (latest: number, now: number) =>
  latest > now + DAY && latest <= now + TEN_YEARS ? latest : undefined

const isPresent = ({ isJoined, leftAt }: Entry) => isJoined && leftAt === undefined

const hasBadMinutes = ({ audio, video, total }: SeenMinutes) =>
  Number.isNaN(audio) || Number.isNaN(video) || Number.isNaN(total)

const areBad = (own: SeenMinutes, people: number | undefined, entries: readonly Entry[] = NO_ENTRIES) =>
  hasBadMinutes(own) || Number.isNaN(people) || entries.some(({ isBad }) => isBad)

type Plausible = (time: number | undefined) => number | undefined

function readParticipant(item: Item, entry: Entry, plausible: Plausible): SeenParticipant {
  const { uid, state } = item
  const [joinedAt, leftAt] = [plausible(toTime(item['joinedAt'])), plausible(toTime(item['leftAt']))]
  return {
    // A longer integer is inexact, and a missing id is better than a wrong one.
    uid: typeof uid === 'number' && !Number.isSafeInteger(uid) ? undefined : readSessionId(uid),
    state: hasValue(state) ? (PARTICIPANT_STATES.find((known) => known === state) ?? 'other') : undefined,
    joined: entry.isJoined || entry.leftAt !== undefined || joinedAt !== undefined,
    joinedAt,
    leftAt,
    minutes: sumEntries([entry]),
  }
}

/** An index of PostgreSQL accepts at most 2,704 bytes. */
const MAX_ID_CHARACTERS = 500

/**
 * A session id: a string, or a finite number as its decimal text (read-answer.ts turns long integers into strings).
 * Undefined for anything else. Also for a string that is too long, contains half of a surrogate pair, which can be neither
 * requested nor stored, or contains U+0000, which PostgreSQL cannot store.
 */
export function readSessionId(value: unknown): string | undefined {
  const isUsable = (text: string) =>
    text !== '' && text.length <= MAX_ID_CHARACTERS && text.isWellFormed() && !text.includes('\0')
  if (typeof value === 'string') return isUsable(value) ? value : undefined
  return typeof value === 'number' && Number.isFinite(value) ? String(value) : undefined
}

/** A digest of the service's `mid`, which is a UUID: anything but a text is no `mid`. */
export function readMid(value: unknown): number | undefined {
  return midOf(toText(value))
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
  value: unknown,
  known: readonly T[],
  { onUnknown }: ReadCallOptions,
): T | undefined {
  const text = toText(value)
  if (text === undefined) return undefined
  const label = known.find((documented) => documented === text)
  if (label === undefined) onUnknown(field, text)
  return label ?? known.at(-1)
}

/**
 * Participant-level minutes by medium. Entries with a total but neither medium add to `total`. If any entry has minutes of
 * one medium, both are known: an entry with only audio minutes has no video minutes. An invalid number makes its sum invalid,
 * because a sum without it would look like a correction.
 */
function sumEntries(entries: readonly Entry[] | undefined): SeenMinutes {
  let audio: number | undefined
  let video: number | undefined
  let total: number | undefined
  for (const { minutes, duration } of entries ?? NO_ENTRIES) {
    audio = plus(audio, minutes.audio)
    video = plus(video, minutes.video)
    total = plus(total, unsplit(minutes, duration))
  }
  const isEmpty = !isSplit({ audio, video, total }) && total === undefined
  return isEmpty ? NO_MINUTES : validMinutes(audio ?? 0, video ?? 0, total)
}

/** A sum with one more value, if it is known. */
function plus(sum: number | undefined, value: number | undefined): number | undefined {
  return value === undefined ? sum : (sum ?? 0) + value
}

const NO_ENTRIES: readonly Entry[] = []
const NO_MINUTES: SeenMinutes = { audio: undefined, video: undefined, total: undefined }

function validMinutes(audio: number | undefined, video: number | undefined, total: number | undefined): SeenMinutes {
  // The medium of an invalid total is unknown, so both media are.
  if (Number.isNaN(total)) return NO_MINUTES
  return { audio: validNumber(audio), video: validNumber(video), total: validNumber(total) }
}

function validNumber(value: number | undefined): number | undefined {
  return Number.isNaN(value) ? undefined : value
}
