import type { Config } from '../config/config.ts'
import type { Problem } from '../config/config-error.ts'
import type { OwnershipEvent } from '../cluster/shared-ownership.ts'
import type { WebhookEvent } from '../events/webhooks/webhook-event.ts'
import type { Delivery } from '../notifications/delivery/deliver.ts'
import type { TargetEvent } from '../pipeline/lifecycle.ts'
import type { SweepProgress } from '../polling/poll-memory.ts'
import type { RequestRecord } from '../polling/request-with-retries.ts'

/** The result of reading a configuration while the daemon runs. */
export type Reload = {
  /** The active configuration: the new one, or the old one if the new one was refused. */
  config: Config
  /** Why the new configuration was refused; empty if it is active. */
  problems: readonly Problem[]
  /** The settings that need a restart, and stay as they were; the others of the new configuration are active. */
  kept: readonly Problem[]
  /** The sections of the file that changed. */
  changed: readonly string[]
}

/** An event of a running daemon. */
export type DaemonEvent =
  | TargetEvent
  | { kind: 'ownership'; event: OwnershipEvent }
  /** The store can no longer be used, and why; or it can be used again. One event, however many targets notice it. */
  | { kind: 'store'; problem: string | undefined }
  /** The progress of an initial sync that takes long. */
  | { kind: 'progress'; target: string; progress: SweepProgress }
  /** A search for somebody's calls has ended. */
  | { kind: 'searched'; target: string; requests: readonly RequestRecord[] }
  /** A bug prevented the overview of a target from being written for the other daemons. */
  | { kind: 'overview failed'; target: string; error: unknown }
  | { kind: 'reload'; reload: Reload }
  | { kind: 'delivery'; delivery: Delivery }
  | { kind: 'webhook'; event: WebhookEvent }
  /** Some seconds have passed. */
  | { kind: 'time' }
  /** The last event: the daemon has stopped. */
  | { kind: 'stopped' }
