export const finalStatuses = ['ended', 'unanswered', 'rejected', 'canceled'] as const
export type FinalStatus = (typeof finalStatuses)[number]

export function isFinalStatus(status: string): status is FinalStatus {
  return finalStatuses.some((final) => final === status)
}

/**
 * A call as the service sends it. Times are whole UNIX seconds, minutes are doubles. Labels and status may have undocumented
 * values. The answer omits a label that is empty, and fields without a value.
 */
export type Call = {
  sessionId: string
  /** From when somebody has joined. */
  mid?: string
  type: string
  mode: string
  receiverType: string
  initiator: string
  receiver: string
  status: string
  totalAudioMinutes: number
  totalVideoMinutes: number
  totalDurationInMinutes: number
  /** `HH:MM:SS` */
  totalDuration: string
  /** The entries of those who joined. */
  totalParticipants: number
  hasRecording: boolean
  hasTranscription: boolean
  /** Absent where the service sends `startedAt` in its place. */
  initiatedAt?: number
  startedAt?: number
  endedAt?: number
  participants: Participant[]
  recordings?: Recording[]
  data: { entities: Record<'initiator' | 'receiver', { entityType: string; entity: Entity }> }
  tags: string[]
  metaData: string[]
}

/** Whether a user is the caller, the receiver or listed in the call. */
export function takesPart({ initiator, receiver, receiverType, participants }: Call, uid: string): boolean {
  return (
    initiator === uid || (receiver === uid && receiverType !== 'group') || participants.some((one) => one.uid === uid)
  )
}

/** One device of one person. A person who never joined has neither device nor times. */
export type Participant = {
  uid: string
  totalAudioMinutes: number
  totalVideoMinutes: number
  /** Minutes, not text as that of a call. */
  totalDuration: number
  deviceId?: string
  mid?: string
  isJoined: boolean
  joinedAt?: number
  leftAt?: number
  state: 'ongoing' | 'ended' | 'unanswered' | 'rejected'
}

/** A user or a group. */
type Entity = { uid: string; name: string; avatar: string } | { guid: string; name: string; icon: string }

/** `duration` is in seconds; times are whole UNIX seconds. */
type Recording = { rid: string; duration: number; startTime: number; endTime: number; recording_url: string }
