/** What happened to the events of a webhook, or to it. */
export type WebhookEvent = { webhook: string } & (
  | { kind: 'events'; outcome: WebhookOutcome; n: number; problem?: string }
  /** An event has failed several times; none has any more. */
  | { kind: 'failing'; problem: string }
  | { kind: 'recovered' }
  | { kind: 'paused'; problem: string }
  /** The log does not go on where the webhook was: events may have been missed. */
  | { kind: 'gap' }
)

/** `dead` is a dead letter, `expired` was deleted by the retention before it was delivered. */
export type WebhookOutcome = 'delivered' | 'retried' | 'dead' | 'expired'

/** So many events of a webhook; nothing of none. */
export function counted(webhook: string, outcome: WebhookOutcome, n: number, problem?: string): WebhookEvent[] {
  return n === 0 ? [] : [{ webhook, kind: 'events', outcome, n, ...(problem !== undefined && { problem }) }]
}
