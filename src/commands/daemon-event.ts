import type { Heartbeat } from '../notify/heartbeat.ts'
import type { WatchEvent } from '../polling/watch-target.ts'
import type { Committed } from '../store/keep-target.ts'

/** One thing that a running daemon did. */
export type DaemonEvent =
  | { kind: 'watch'; target: string; event: WatchEvent<Committed> }
  | { kind: 'delivery'; delivery: AnyDelivery }
  | { kind: 'heartbeat'; beaten: Heartbeat }

/** An attempt to tell somebody something, by whatever notifier. */
export type AnyDelivery = { notifier: string; outcome: 'sent' | 'retried' | 'dropped'; problem?: string }
