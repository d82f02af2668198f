import type { OwnershipEvent } from '../cluster/shared-ownership.ts'
import type { WebhookEvent } from '../events/webhooks/webhook-event.ts'
import type { Delivery } from '../notifications/delivery/batch.ts'
import type { TargetEvent } from '../pipeline/lifecycle.ts'
import type { SweepProgress } from '../polling/poll-memory.ts'
import type { Reload } from './reload.ts'

/** One thing that a running daemon did. */
export type DaemonEvent =
  | TargetEvent
  | { kind: 'ownership'; event: OwnershipEvent }
  /** The store cannot be used any more, and why; or it can again. However many targets find that, it is one event. */
  | { kind: 'store'; problem: string | undefined }
  /** How far an initial sync is that takes long. */
  | { kind: 'progress'; target: string; progress: SweepProgress }
  /** A bug kept the overview of a target from being written for the other daemons. */
  | { kind: 'overview failed'; target: string; error: unknown }
  | { kind: 'reload'; reload: Reload }
  | { kind: 'delivery'; delivery: Delivery }
  | { kind: 'webhook'; event: WebhookEvent }
  /** Some seconds have passed. */
  | { kind: 'time' }
  /** The last one: the daemon stops. */
  | { kind: 'stopped' }
