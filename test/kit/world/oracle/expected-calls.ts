import {
  callsUntil as plainCalls,
  labelsOf,
  type CountedCall,
} from '../../../../src/simulator/expected/counted-calls.ts'
import type { LedgerEvent, Minutes } from '../../../../src/simulator/calls/ledger.ts'
import { plainEvents, withoutEarlyEnds } from './plain-events.ts'

/** What happened to one call, in figures. Times in whole seconds since 1970. */
export type ExpectedCall = {
  /** As they were at its first final status, or are now. */
  labels: { type: string; mode: string; receiver_type: string }
  /** The first final status, or that of now: one of the six, or `other`. */
  status: string
  final: boolean
  /** Out of the list and unknown to Get Call. */
  isVanished: boolean
  initiatedAt?: number
  startedAt?: number
  endedAt?: number
  /** As the service last showed them. */
  callMinutes: Minutes
  participantMinutes: Minutes
  participants: number
  recorded: boolean
}

/**
 * Every call until `now` (seconds since 1970), by its id in the ledger, in the order in which they began.
 *
 * @param created the set-up, where ends before it do not count once the call is open again
 */
export function callsUntil(events: readonly LedgerEvent[], now: number, created = -Infinity): Map<string, CountedCall> {
  const until = plainEvents(events.filter(({ at }) => at <= now))
  return plainCalls(withoutEarlyEnds(until, created), now)
}

/** Each call by itself, whether it is counted or not, by its id in the ledger; `now` in seconds since 1970. */
export function expectedCalls(events: readonly LedgerEvent[], now: number): Map<string, ExpectedCall> {
  const calls = [...callsUntil(events, now)].map(([id, { final, last }]) => {
    const { initiatedAt, startedAt, endedAt, callMinutes, participantMinutes, participants, recorded } = last
    const call: ExpectedCall = {
      labels: labelsOf(final ?? last),
      status: (final ?? last).status,
      final: final !== undefined,
      isVanished: last.event === 'vanished',
      ...(initiatedAt === undefined ? {} : { initiatedAt }),
      ...(startedAt === undefined ? {} : { startedAt }),
      ...(endedAt === undefined ? {} : { endedAt }),
      callMinutes,
      participantMinutes,
      participants,
      recorded,
    }
    return [id, call] as const
  })
  return new Map(calls)
}
