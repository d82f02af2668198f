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

export type WebhookTrigger = keyof typeof TRIGGERS

export const isTrigger = (name: unknown): name is WebhookTrigger =>
  typeof name === 'string' && Object.hasOwn(TRIGGERS, name)

/** A webhook of the service said that something happened to a call. Without an id, to a call that rings. */
export type Hint = { id?: string | undefined; trigger: WebhookTrigger }

/** The triggers that announce an end. */
export const END_TRIGGERS = Object.entries(TRIGGERS).flatMap(([name, shows]) => (shows === 'end' ? [name] : []))

/** Whether a webhook announces the end of a call. */
export function isEnd({ trigger }: Pick<Hint, 'trigger'>): boolean {
  return TRIGGERS[trigger] === 'end'
}

/** The triggers of ends that are expected of each status; for a call that ended, by its mode. */
const EXPECTED = {
  unanswered: ['call_unanswered'],
  rejected: ['call_rejected', 'call_busy'],
  canceled: ['call_cancelled'],
  other: [],
} as const satisfies Record<string, readonly WebhookTrigger[]>

/** The triggers of which one should announce an end. */
export function expectedTriggers({ status, labels }: Pick<Finish, 'status' | 'labels'>): readonly WebhookTrigger[] {
  if (status !== 'ended') return EXPECTED[status]
  return labels.mode === 'call' ? ['call_ended'] : ['meeting_ended']
}

/** The triggers that may announce an end: of a session that ended, or of a call that failed while it rang. */
export function announcingTriggers({ status }: Pick<Finish, 'status'>): readonly WebhookTrigger[] {
  const ofSession = ['call_ended', 'meeting_ended'] as const
  return status === 'ended' || status === 'other' ? ofSession : Object.values(EXPECTED).flat()
}
