import type { CallEvent, CallwatchEvent } from './views/event.ts'

/** What the package exports: for receivers of webhooks, and for readers of events. */
export { verifyWebhook, WebhookRefused, type WebhookRequest } from './events/webhooks/verify.ts'
export type {
  AlertChange,
  AlertEvent,
  CallChange,
  CallData,
  CallEvent,
  CallwatchEvent,
  Participant,
} from './views/event.ts'

/** Whether an event is about a call. Otherwise it is about an alert. */
export function isCallEvent(event: CallwatchEvent): event is CallEvent {
  return event.type.startsWith('callwatch.call.')
}
