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

/** A webhook of the service said that something happened to a call. */
export type Hint = { id: string; shows: (typeof TRIGGERS)[Trigger] }
