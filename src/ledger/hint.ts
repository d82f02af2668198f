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

export type WebhookTrigger = keyof typeof TRIGGERS

export const isTrigger = (name: unknown): name is WebhookTrigger =>
  typeof name === 'string' && Object.hasOwn(TRIGGERS, name)

/** A webhook of the service said that something happened to a call of this session. */
export type Hint = { id: string; trigger: WebhookTrigger }
