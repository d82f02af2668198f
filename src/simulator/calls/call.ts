export const finalStatuses = ['ended', 'unanswered', 'rejected', 'canceled'] as const
export type FinalStatus = (typeof finalStatuses)[number]

export function isFinalStatus(status: string): status is FinalStatus {
  return finalStatuses.some((final) => final === status)
}

/**
 * A call as the service sends it. Times are whole UNIX seconds; minutes have four decimals. Labels and status may have
 * undocumented values. The answer omits a label that is empty.
 */
export type Call = {
  sessionId: string
  mid: string
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
  totalParticipants: number
  hasRecording: boolean
  hasTranscription: boolean
  initiatedAt: number
  startedAt?: number
  endedAt?: number
  participants: Participant[]
  recordings?: Recording[]
  tags: string[]
  metaData: string[]
}

/** One device of one person. A person who never joined has neither device nor times. */
export type Participant = {
  uid: string
  totalAudioMinutes: number
  totalVideoMinutes: number
  totalDurationInMinutes: number
  deviceId?: string
  isJoined: boolean
  joinedAt?: number
  leftAt?: number
  state: 'ongoing' | 'ended' | 'unanswered' | 'rejected'
}

/** `duration` is in minutes; times are whole UNIX seconds. */
type Recording = { rid: string; duration: number; startTime: number; endTime: number; recording_url: string }
