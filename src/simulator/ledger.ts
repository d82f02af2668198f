import type { Call } from './call.ts'
import type { Happening } from './moment.ts'
import { reach } from './reached.ts'
import type { Reached } from './reached.ts'

/** Minutes by medium. */
export type Minutes = { audio: number; video: number }

/**
 * One line of the simulator's ledger: what happened to a call, and its figures from then on. Lines are appended as
 * things happen and never changed. `at` in seconds since 1970 (three decimals), the other times in whole seconds.
 */
export type LedgerEvent = {
  at: number
  sessionId: string
  event: Happening
  type: string
  mode: string
  receiverType: string
  status: string
  initiatedAt?: number
  startedAt?: number
  endedAt?: number
  callMinutes: Minutes
  /** Summed over the participants' entries. */
  participantMinutes: Minutes
  participants: number
  recorded: boolean
}

/** Where the lines go: a part of the world. */
type Book = { ledger: LedgerEvent[]; nowMs: number; reached: Reached }

const DAY = 86_400

/** Appends the line of a call that has just become what it is. */
export function write(book: Book, happening: Happening, call: Call): void {
  book.ledger.push(ledgerEvent(book.nowMs, happening, call))
  reach(book.reached, `event.${happening}`)
}

/** The ledger's line for a call. A time more than a day ahead is no time that anything happened at: it is left out. */
export function ledgerEvent(ms: number, event: Happening, call: Call): LedgerEvent {
  const sum = (minutesOf: (participant: Call['participants'][number]) => number): number =>
    call.participants.reduce((total, participant) => total + minutesOf(participant), 0)
  const happened = (time: number | undefined): time is number => time !== undefined && time <= ms / 1000 + DAY
  return {
    at: ms / 1000,
    sessionId: call.sessionId,
    event,
    type: call.type,
    mode: call.mode,
    receiverType: call.receiverType,
    status: call.status,
    ...(happened(call.initiatedAt) ? { initiatedAt: call.initiatedAt } : {}),
    ...(happened(call.startedAt) ? { startedAt: call.startedAt } : {}),
    ...(happened(call.endedAt) ? { endedAt: call.endedAt } : {}),
    callMinutes: { audio: call.totalAudioMinutes, video: call.totalVideoMinutes },
    participantMinutes: { audio: sum((p) => p.totalAudioMinutes), video: sum((p) => p.totalVideoMinutes) },
    participants: call.totalParticipants,
    recorded: call.hasRecording,
  }
}
