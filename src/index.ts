/** What the package exports: for receivers of webhooks, and for readers of events. */
export { verifyWebhook, WebhookRefused, type WebhookRequest } from './events/webhooks/verify.ts'
export type {
  AlertChange,
  AlertEvent,
  CallChange,
  CallData,
  CallEvent,
  CallwatchEvent,
  EventType,
  Participant,
} from './events/types.ts'
