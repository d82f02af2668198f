/** A change of a webhook, or of its events, for log and metrics. */
export type WebhookEvent = { webhook: string } & WebhookChange

export type WebhookChange =
  | { kind: 'events'; outcome: WebhookOutcome; n: number; problem?: string }
  /** An event keeps failing; or none does any more. */
  | { kind: 'failing'; problem: string }
  | { kind: 'recovered' }
  | { kind: 'paused'; problem: string }
  /** The webhook's position in the log no longer exists, so it may have missed events. */
  | { kind: 'gap' }

/** `dead`: a dead letter. `expired`: deleted by the retention before it was delivered. */
export type WebhookOutcome = 'delivered' | 'retried' | 'dead' | 'expired'
