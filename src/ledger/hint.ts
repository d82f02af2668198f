import type { Finish } from './tracked-call.ts'

/** The triggers of the service's webhooks about calls, with what the service should show of the call by then. */
export const TRIGGERS = {
  call_initiated: 'begun',
  call_started: 'started',
  call_participant_joined: 'change',
  call_participant_left: 'change',
  call_ended: 'end',
  call_busy: 'end',
  call_cancelled: 'end',
  call_rejected: 'end',
  call_unanswered: 'end',
  meeting_started: 'started',
  meeting_participant_joined: 'change',
  meeting_participant_left: 'change',
  meeting_ended: 'end',
  /** Any other trigger. */
  other: 'change',
} as const

export type Trigger = keyof typeof TRIGGERS

/** A webhook of the service said that something happened to a call. Without an id, to one of the calls that ring. */
export type Hint = { id?: string | undefined; trigger: Trigger }

/** Whether a webhook announces the end of a call. */
export function isEnd({ trigger }: Pick<Hint, 'trigger'>): boolean {
  return TRIGGERS[trigger] === 'end'
}

/** The triggers with which the service announces an end, by its status and the mode of the call. */
export function triggersOf({ status, labels }: Pick<Finish, 'status' | 'labels'>): readonly Trigger[] {
  if (status === 'ended') return labels.mode === 'call' ? ['call_ended'] : ['meeting_ended']
  return OF_STATUS[status]
}

const OF_STATUS = {
  unanswered: ['call_unanswered'],
  rejected: ['call_rejected', 'call_busy'],
  canceled: ['call_cancelled'],
  other: [],
} as const satisfies Record<string, readonly Trigger[]>
