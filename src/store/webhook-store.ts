/** The webhooks, and the events that each has not received. */
export type WebhookStore = {
  /** All known webhooks, by name. */
  webhooks: () => Promise<StoredWebhook[]>
  /** The first `limit` undelivered events of a webhook after a place, in the order of the log. */
  undelivered: (webhook: string, page: { dead: boolean; after: LogPlace; limit: number }) => Promise<UndeliveredEvent[]>
  /** Changes a webhook. Resolves to false if it was changed since it was read. */
  saveWebhook: (change: WebhookChange) => Promise<boolean>
}

/** A place in the event log. */
export type LogPlace = { position: number; place: number }

/** The progress of a webhook. Times are UNIX seconds by the host's clock. */
export type WebhookProgress = {
  /** Every event up to this cursor was delivered, is listed as undelivered, or is not wanted (events/cursor.ts). */
  cursor: string
  /** Why the webhook is paused. It delivers nothing until it is resumed. */
  paused?: string
  /** Since when it is not configured. */
  removedAt?: number
  deliveredAt?: number
  /** Since when an event keeps failing, and why. */
  failingSince?: number | undefined
  problem?: string | undefined
}

/** An event before the cursor of a webhook that it has not received. */
export type UndeliveredEvent = LogPlace & {
  /** The UUID of the commit. */
  id: string
  /** Events of one series are delivered in order. */
  series: string
  /** When the event was detected (UNIX seconds by the host's clock). */
  at: number
  /** Whether it is a dead letter, which is delivered only if it is replayed. */
  dead: boolean
  attempts: number
  /** Since when every attempt was refused (UNIX seconds by the host's clock). */
  refusedSince?: number | undefined
  problem?: string
}

/** The stored state of a webhook. */
export type StoredWebhook = {
  name: string
  /** Changes with every save. */
  revision: number
  progress: WebhookProgress
  /** The numbers of undelivered events that are not dead letters, and of dead letters. */
  waiting: number
  dead: number
  /** The first event that waits: its place in the log, and when it was detected (UNIX seconds by the host's clock). */
  oldest: { position: number; at: number } | undefined
}

export type WebhookChange = {
  name: string
  /** The revision that was read; 0 for a new webhook. */
  revision: number
  /** Undefined removes the webhook and all of its undelivered events. */
  progress: WebhookProgress | undefined
  /** New or changed undelivered events. */
  put?: readonly UndeliveredEvent[]
  /** Events that were delivered meanwhile, or given up. */
  remove?: readonly LogPlace[]
  /** Removes all undelivered events from this place on. */
  removeFrom?: LogPlace
}
