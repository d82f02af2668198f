import { callsUntil, labelsOf, statusLabel } from './counted-calls.ts'
import type { LedgerEvent, Minutes } from './ledger.ts'

/** What became of one call. Times in whole seconds since 1970. */
export type CallTruth = {
  /** As they were at its first final status, or are now. */
  labels: { type: string; mode: string; receiver_type: string }
  /** The first final status, or that of now: one of the six, or `other`. */
  status: string
  final: boolean
  /** Out of the list and unknown to Get Call. */
  gone: boolean
  initiatedAt?: number
  startedAt?: number
  endedAt?: number
  /** As the service last said them. */
  callMinutes: Minutes
  participantMinutes: Minutes
  participants: number
  recorded: boolean
}

/** Each call by itself, whether it is counted or not, by its session id; `now` in seconds since 1970. */
export function callTruth(events: readonly LedgerEvent[], now: number): Map<string, CallTruth> {
  const truths = new Map<string, CallTruth>()
  for (const [sessionId, { final, last, gone }] of callsUntil(events, now)) {
    const decisive = final ?? last
    const { initiatedAt, startedAt, endedAt, callMinutes, participantMinutes, participants, recorded } = last
    truths.set(sessionId, {
      labels: labelsOf(decisive),
      status: statusLabel(decisive),
      final: final !== undefined,
      gone,
      ...(initiatedAt === undefined ? {} : { initiatedAt }),
      ...(startedAt === undefined ? {} : { startedAt }),
      ...(endedAt === undefined ? {} : { endedAt }),
      callMinutes,
      participantMinutes,
      participants,
      recorded,
    })
  }
  return truths
}
