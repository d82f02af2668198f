/** What the package exports: for receivers of webhooks, and for readers of events. */
export { isCallEvent, verifyWebhook, WebhookRefused, type WebhookRequest } from './events/webhooks/verify.ts'
export type {
  AlertChange,
  AlertEvent,
  CallChange,
  CallData,
  CallEvent,
  CallwatchEvent,
  Participant,
} from './views/event.ts'
