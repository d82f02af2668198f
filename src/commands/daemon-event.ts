import type { Delivery } from '../notify/deliver-outbox.ts'
import type { WatchEvent } from '../polling/watch-target.ts'
import type { Committed } from '../store/keep-target.ts'

/** One thing that a running daemon did. */
export type DaemonEvent =
  | { kind: 'watch'; target: string; event: WatchEvent<Committed> }
  | { kind: 'delivery'; delivery: Delivery }
