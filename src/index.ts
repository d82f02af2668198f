/** What the package exports: for receivers of webhooks, and for readers of events. */
export { verifyWebhook, WebhookRefused, type WebhookRequest } from './events/webhooks/verify.ts'
export {
  isCallEvent,
  type AlertChange,
  type AlertEvent,
  type CallChange,
  type CallData,
  type CallEvent,
  type CallwatchEvent,
  type Participant,
} from './events/types.ts'
