import type { Call } from './call.ts'
import type { Entry } from './world.ts'

/** Minutes by medium. */
export type Minutes = { audio: number; video: number }

/**
 * A line of the simulator's ledger: what happened to a call, and the call's figures afterwards. Lines are appended as things
 * happen, and never change. `at` is UNIX seconds with three decimals; other times are whole seconds.
 */
export type LedgerEvent = Pick<
  Call,
  'sessionId' | 'type' | 'mode' | 'receiverType' | 'status' | 'initiatedAt' | 'startedAt' | 'endedAt'
> & {
  at: number
  /** Names the call: no other one of the world has it, though several may have one session id. */
  call: string
  /** The status that the call reached, `progress` for a running call, or `unlisted`. */
  event: string
  callMinutes: Minutes
  /** Summed over the entries of the participants. */
  participantMinutes: Minutes
  participants: number
  /** The people but the initiator, whatever their number of entries; absent of a call without participants. */
  invited?: { joined: number; absent: number }
  recorded: boolean
}

/** Appends a line for a call that has just changed. */
export function write(world: { ledger: LedgerEvent[]; nowMs: number }, event: string, entry: Entry): void {
  world.ledger.push(ledgerEvent(world.nowMs, event, entry))
}

/** The ledger's line for a call. */
export function ledgerEvent(ms: number, event: string, { callId, call }: Pick<Entry, 'callId' | 'call'>): LedgerEvent {
  const sum = (minutesOf: (participant: Call['participants'][number]) => number): number =>
    call.participants.reduce((total, participant) => total + minutesOf(participant), 0)
  return {
    at: ms / 1000,
    call: callId,
    sessionId: call.sessionId,
    event,
    type: call.type,
    mode: call.mode,
    receiverType: call.receiverType,
    status: call.status,
    ...(call.initiatedAt === undefined ? {} : { initiatedAt: call.initiatedAt }),
    ...(call.startedAt === undefined ? {} : { startedAt: call.startedAt }),
    ...(call.endedAt === undefined ? {} : { endedAt: call.endedAt }),
    callMinutes: { audio: call.totalAudioMinutes, video: call.totalVideoMinutes },
    participantMinutes: { audio: sum((p) => p.totalAudioMinutes), video: sum((p) => p.totalVideoMinutes) },
    participants: call.totalParticipants,
    ...(call.participants.length > 0 && { invited: invitedTo(call) }),
    recorded: call.hasRecording,
  }
}

function invitedTo({ initiator, participants }: Call): { joined: number; absent: number } {
  const invited = participants.filter(({ uid }) => uid !== initiator)
  const joined = new Set(invited.filter(({ isJoined }) => isJoined).map(({ uid }) => uid)).size
  return { joined, absent: new Set(invited.map(({ uid }) => uid)).size - joined }
}
