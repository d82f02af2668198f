import type { Notification } from '../alerts/notification.ts'
import type { OwnershipEvent } from '../cluster/shared-ownership.ts'
import type { Heartbeat } from '../notify/heartbeat.ts'
import type { Progress, WatchEvent } from '../polling/watch-target.ts'
import type { Committed } from '../store/keep-target.ts'
import type { Reload } from './take-over.ts'

/** One thing that a running daemon did. */
export type DaemonEvent =
  | { kind: 'watch'; target: string; event: WatchEvent<Committed> }
  /** How far a first look has come that takes long. */
  | { kind: 'progress'; target: string; progress: Progress }
  /** What was committed of a target elsewhere, or without an answer. */
  | { kind: 'followed'; committed: Committed }
  | { kind: 'ownership'; event: OwnershipEvent }
  /** A mistake of our own ended the work on a target; it is tried again after a pause (seconds). */
  | { kind: 'internal error'; target: string; error: unknown; seconds: number }
  /** A target is watched no more; what was told of its alerts. */
  | { kind: 'removed'; target: string; notifications: readonly Notification[] }
  | { kind: 'reload'; reload: Reload }
  | { kind: 'delivery'; delivery: AnyDelivery }
  | { kind: 'heartbeat'; beaten: Heartbeat }

/** An attempt to tell somebody something, by whatever notifier. */
export type AnyDelivery = {
  notifier: string
  outcome: 'sent' | 'retried' | 'dropped'
  problem?: string
  error?: unknown
}
