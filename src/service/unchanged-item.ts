import { FINAL_STATUSES, ownTime } from '../ledger/call.ts'
import { MARK, type TrackedCall } from '../ledger/tracked-call.ts'
import { MAX_MINUTES } from './wire-call.ts'

type Item = Readonly<Record<string, unknown>>

/**
 * Whether an item of a list, in the form that the service documents, says just what is remembered of a call that is over.
 * In doubt it does not: then the item is read like any other. A whole look lists mostly such calls, and this costs a
 * fraction of reading them.
 */
export function isUnchanged(item: Item, known: TrackedCall): boolean {
  if (ownTime(known) === undefined || typeof item['status'] !== 'string' || item['status'] === '') return false
  // A meeting that goes on is open again, and counts; so does another call with the same id.
  if (known.phase === 'baseline')
    return FINAL_STATUSES.some((status) => status === item['status']) && hasStart(item, known)
  return (
    known.phase === 'final' &&
    // What is still to be observed of it may be in this item.
    (known.marks & (MARK.detailsWanted | MARK.participantsObserved)) === MARK.participantsObserved &&
    item['status'] === known.status &&
    hasLabels(item, known) &&
    hasStart(item, known) &&
    item['endedAt'] === known.endedAt &&
    item['totalParticipants'] === known.totalParticipants &&
    hasRecording(item, known) &&
    hasMinutes(item, known)
  )
}

function hasStart(item: Item, { initiatedAt, startedAt }: TrackedCall): boolean {
  return item['initiatedAt'] === initiatedAt && item['startedAt'] === startedAt
}

function hasLabels(item: Item, { labels }: TrackedCall): boolean {
  return item['type'] === labels.type && item['mode'] === labels.mode && item['receiverType'] === labels.receiverType
}

function hasRecording(item: Item, { marks }: TrackedCall): boolean {
  if (item['recordings'] !== undefined) return false
  return item['hasRecording'] === ((marks & MARK.recordingSeen) !== 0)
}

/** Both levels of minutes, and who is in the call. */
function hasMinutes(item: Item, { counted, joined }: TrackedCall): boolean {
  if (item['totalAudioMinutes'] !== counted[0] || item['totalVideoMinutes'] !== counted[1]) return false
  const entries: unknown = item['participants']
  if (!Array.isArray(entries) || !isUsable(item['totalDurationInMinutes'])) return false
  let [audio, video, present] = [0, 0, 0]
  for (const entry of entries as readonly (Item | null)[]) {
    if (entry === null || !isPlain(entry)) return false
    audio += entry['totalAudioMinutes']
    video += entry['totalVideoMinutes']
    if (entry['isJoined'] && entry['leftAt'] === undefined) present += 1
  }
  return audio === counted[2] && video === counted[3] && present === joined
}

/** A participant's entry as documented, with nothing in it that would be an anomaly. */
function isPlain(entry: Item): entry is Item & { totalAudioMinutes: number; totalVideoMinutes: number } {
  const { totalAudioMinutes: audio, totalVideoMinutes: video, totalDuration, leftAt } = entry
  return (
    typeof audio === 'number' &&
    typeof video === 'number' &&
    isUsable(audio) &&
    isUsable(video) &&
    isUsable(entry['totalDurationInMinutes']) &&
    (typeof totalDuration !== 'number' || isUsable(totalDuration)) &&
    typeof entry['isJoined'] === 'boolean' &&
    (leftAt === undefined || (typeof leftAt === 'number' && leftAt > 0))
  )
}

function isUsable(minutes: unknown): boolean {
  return minutes === undefined || (typeof minutes === 'number' && minutes >= 0 && minutes <= MAX_MINUTES)
}
