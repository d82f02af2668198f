import { labelsOf, type CallMode, type CallType, type ReceiverType } from '../../../src/ledger/call.ts'
import type { Finish, TrackedCall } from '../../../src/ledger/tracked-call.ts'
import { finishAt } from '../../kit/alerts/sample-rules.ts'

/** An open call that began at a moment (UNIX seconds). */
export function openSince(began: number, differing: Partial<TrackedCall> = {}): TrackedCall {
  return {
    id: `open since ${began}`,
    session: undefined,
    mid: undefined,
    phase: 'open',
    status: 'ongoing',
    labels: labelsOf('audio', 'call', 'user'),
    firstSeen: began + 5,
    initiatedAt: began,
    startedAt: undefined,
    endedAt: undefined,
    totalParticipants: undefined,
    joined: undefined,
    minutes: [0, 0, 0, 0],
    finish: undefined,
    notFound: 0,
    retainUntil: undefined,
    marks: 0,
    ...differing,
  }
}

/** The given labels, and an audio call to a user for the rest. */
export function labelled(
  type: CallType = 'audio',
  mode: CallMode = 'call',
  receiverType: ReceiverType = 'user',
): Pick<Finish, 'labels'> {
  return { labels: labelsOf(type, mode, receiverType) }
}

/** So many of one and the same call. */
export function times(number: number, ...call: Parameters<typeof finishAt>): Finish[] {
  return Array.from({ length: number }, () => finishAt(...call))
}
