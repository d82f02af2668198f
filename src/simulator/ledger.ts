import type { Call } from './call.ts'
import type { Happening } from './call-at.ts'

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

/**
 * How often each thing really happened, by kind and name: `fault.reset`, `order.oldest`, `event.vanished`, `fact.swift`,
 * `odd.unusable` and so on. What never happened is not in it.
 */
export type Reached = Map<string, number>

const DAY = 86_400

/** Appends the line of a call that has just changed. */
export function write(
  world: { ledger: LedgerEvent[]; nowMs: number; reached: Reached },
  happening: Happening,
  call: Call,
): void {
  world.ledger.push(ledgerEvent(world.nowMs, happening, call))
  reach(world.reached, `event.${happening}`)
}

export function reach(reached: Reached, what: string): void {
  reached.set(what, (reached.get(what) ?? 0) + 1)
}

/** The ledger's line for a call. A time more than a day ahead is left out: nothing can have happened then. */
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
