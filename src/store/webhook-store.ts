import type { webhooks } from './webhooks.ts'

/** A place in the log of events. */
export type LogPlace = { position: number; place: number }

/** How far a webhook is, and what is known of it. Times are UNIX seconds by the host's clock. */
export type WebhookProgress = {
  /** Everything up to there was delivered, is listed as undelivered, or is not wanted (events/cursor.ts). */
  cursor: string
  /** Why nothing is delivered until it is resumed. */
  paused?: string
  /** Since when it is not in the configuration. */
  removedAt?: number
  deliveredAt?: number
  /** Since when there is an event that fails again and again, and why. */
  failingSince?: number
  problem?: string
}

/** An event before the cursor of a webhook that was not delivered to it. */
export type UndeliveredEvent = LogPlace & {
  /** The UUID of its commit. */
  id: string
  /** Events of one series are delivered in their order. */
  series: string
  /** When it was found (UNIX seconds by the host's clock). */
  at: number
  /** A dead letter: it is delivered only if it is replayed. */
  dead: boolean
  attempts: number
  /** Since when each attempt was refused (UNIX seconds by the host's clock). */
  refusedSince?: number | undefined
  problem?: string
}

/** A webhook as the store has it. */
export type StoredWebhook = {
  name: string
  /** Changes whenever it is saved. */
  revision: number
  progress: WebhookProgress
  /** How many events are undelivered and not dead, and how many are dead. */
  waiting: number
  dead: number
  /** The first of those that wait: where it is in the log, and when it was found (UNIX seconds by the host's clock). */
  oldest: { position: number; at: number } | undefined
}

export type WebhookChange = {
  name: string
  /** As it was read; 0 of one that is new. */
  revision: number
  /** Undefined removes the webhook and all that is undelivered. */
  progress: WebhookProgress | undefined
  /** Undelivered events that are new or changed. */
  put?: readonly UndeliveredEvent[]
  /** Those that are delivered by now, or given up. */
  remove?: readonly LogPlace[]
  /** All from this place on are removed. */
  removeFrom?: LogPlace
}

/** What a store keeps of webhooks. */
export type WebhookStore = ReturnType<typeof webhooks>
