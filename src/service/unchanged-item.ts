import { ANSWERED } from '../ledger/call-fields.ts'
import { isSameInvited } from '../ledger/delta/invited.ts'
import { FINAL_STATUSES, ownTime } from '../ledger/call.ts'
import { TIMES } from '../ledger/identity.ts'
import type { Keys } from '../ledger/session-calls.ts'
import { MARK, type TrackedCall } from '../ledger/tracked-call.ts'
import { isMap } from '../schema/path.ts'
import { invitedIn } from './invited.ts'
import { isPossible, MAX_MINUTES, readMid } from './wire-call.ts'

type Item = Readonly<Record<string, unknown>>

/** The times of an item that has the documented form. A known call that is equal has the same ones. */
export function timesIn(item: Item): Keys {
  const time = (name: (typeof TIMES)[number]) => (typeof item[name] === 'number' ? item[name] : undefined)
  return { initiatedAt: time('initiatedAt'), startedAt: time('startedAt'), endedAt: time('endedAt') }
}

/**
 * Whether an item of a list is equal to a tracked final call, and has the documented form. In doubt it is not, and the item
 * is parsed like any other. Most calls of a sweep are unchanged, and this check is much faster than parsing.
 *
 * @param now the service's clock (UNIX seconds)
 */
export function isUnchanged(item: Item, known: TrackedCall, now: number): boolean {
  if (ownTime(known) === undefined || typeof item['status'] !== 'string' || item['status'] === '') return false
  // A baseline call that is open again, or another call of its session, must be counted.
  if (known.phase === 'baseline') return isSameBaseline(item, known)
  return (
    isComplete(known) &&
    item['status'] === known.status &&
    hasLabels(item, known) &&
    ANSWERED.every((name) => hasAnswered(item, known, name)) &&
    hasRecording(item, known) &&
    hasMinutes(item, known, now) &&
    hasInvited(item, known) &&
    !showsEnd(item, known)
  )
}

function hasAnswered(item: Item, known: TrackedCall, name: (typeof ANSWERED)[number]): boolean {
  return name === 'mid' ? readMid(item['mid']) === known.mid : item[name] === known[name]
}

function isSameBaseline(item: Item, known: TrackedCall): boolean {
  const names = known.mid === undefined ? TIMES : ([...TIMES, 'mid'] as const)
  return (
    FINAL_STATUSES.some((status) => status === item['status']) && names.every((name) => hasAnswered(item, known, name))
  )
}

/** Whether it has ended, and no participants are missing that the item may have. */
function isComplete({ phase, marks }: TrackedCall): boolean {
  return phase === 'final' && (marks & (MARK.detailsWanted | MARK.participantsObserved)) === MARK.participantsObserved
}

function hasLabels(item: Item, { labels }: TrackedCall): boolean {
  return item['type'] === labels.type && item['mode'] === labels.mode && item['receiverType'] === labels.receiverType
}

function hasRecording(item: Item, { marks }: TrackedCall): boolean {
  if (item['recordings'] !== undefined) return false
  return item['hasRecording'] === ((marks & MARK.recordingSeen) !== 0)
}

/** Whether it may show when a call ended of which that is unknown. */
function showsEnd({ participants, startedAt, totalDuration }: Item, { marks }: TrackedCall): boolean {
  if ((marks & MARK.endUnknown) === 0) return false
  const hasLeft = (entry: unknown) => isMap(entry) && entry['leftAt'] !== undefined
  const isDated = startedAt !== undefined && totalDuration !== undefined && totalDuration !== '00:00:00'
  return isDated || (Array.isArray(participants) && participants.some(hasLeft))
}

/** Whether the minutes and the number of joined participants are equal. */
function hasMinutes(item: Item, { minutes, joined }: TrackedCall, now: number): boolean {
  const [callAudio, callVideo, participantAudio, participantVideo] = minutes
  if (item['totalAudioMinutes'] !== callAudio || item['totalVideoMinutes'] !== callVideo) return false
  const entries: unknown = item['participants']
  if (!Array.isArray(entries) || !isValid(item['totalDurationInMinutes'])) return false
  let [audio, video, inCall] = [0, 0, 0]
  for (const entry of entries as readonly (Item | null)[]) {
    if (entry === null || !isDocumented(entry, now)) return false
    audio += entry['totalAudioMinutes']
    video += entry['totalVideoMinutes']
    if (entry['isJoined'] && entry['leftAt'] === undefined) inCall += 1
  }
  return audio === participantAudio && video === participantVideo && inCall === joined
}

/** Whether the numbers of invited people are equal. Its participants have the documented form. */
function hasInvited({ initiator, participants }: Item, { finish }: TrackedCall): boolean {
  return Array.isArray(participants) && isSameInvited(invitedIn(initiator, participants), finish?.invited)
}

type Entry = Item & { totalAudioMinutes: number; totalVideoMinutes: number }

/** Whether a participant's entry has the documented form, and no anomaly. */
function isDocumented(entry: Item, now: number): entry is Entry {
  const { totalAudioMinutes: audio, totalVideoMinutes: video, totalDuration } = entry
  return (
    typeof audio === 'number' &&
    typeof video === 'number' &&
    isValid(audio) &&
    isValid(video) &&
    isValid(entry['totalDurationInMinutes']) &&
    (typeof totalDuration !== 'number' || isValid(totalDuration)) &&
    typeof entry['isJoined'] === 'boolean' &&
    isTime(entry['joinedAt'], now) &&
    isTime(entry['leftAt'], now)
  )
}

function isTime(time: unknown, now: number): boolean {
  return time === undefined || (typeof time === 'number' && isPossible(time, now))
}

function isValid(minutes: unknown): boolean {
  return minutes === undefined || (typeof minutes === 'number' && minutes >= 0 && minutes <= MAX_MINUTES)
}
