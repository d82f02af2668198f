export const finalStatuses = ['ended', 'unanswered', 'rejected', 'canceled'] as const
export type FinalStatus = (typeof finalStatuses)[number]

export function isFinalStatus(status: string): status is FinalStatus {
  return finalStatuses.some((final) => final === status)
}

/**
 * A call as the service writes it on the wire. Times are whole UNIX seconds, minutes have four decimals. Labels and
 * status may be outside the documented values; an empty label means one that the wire does not show.
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

/** One device of one person; without device and times where the person never joined. */
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

/** `duration` in minutes; the times in whole UNIX seconds. */
type Recording = { rid: string; duration: number; startTime: number; endTime: number; recording_url: string }
