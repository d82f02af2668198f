import type { AlertInstance } from '../../alerts/alert-instance.ts'
import type { Rule } from '../../alerts/rule.ts'
import type { LedgerState } from '../../ledger/state.ts'

/** What a view shows of a target. Ages are in seconds. */
export type ShownTarget = {
  readonly name: string
  readonly ledger: LedgerState
  readonly alerts: ReadonlyMap<string, AlertInstance>
  readonly settings: {
    readonly poll: {
      readonly baseline: 'skip' | 'count'
      readonly interval: number
      readonly lookback: number
      readonly maxRequestsPerMinute: number
    }
    readonly rules: readonly Rule[]
  }
  /** Since the last successful poll; before the first one, since the target was created. */
  readonly pollAge: () => number
  /** Since the last complete sweep began; undefined before the first one. */
  readonly sweepAge: () => number | undefined
  /** Since the last evaluation of the rules; before the first one, since the start. */
  readonly evaluationAge: () => number
  /** The report of its last poll, and what earlier polls showed. */
  readonly health: () => {
    readonly successful: boolean
    readonly problem: string | undefined
    readonly fault?: 'service' | 'store' | 'list' | 'bug'
    readonly refusedFrom?: number
    readonly slowSweep?: { pages: number; seconds: number; polls: number }
    readonly slowAnswers?: number | undefined
    readonly unreadTime?: string | undefined
    readonly requestsLastMinute: number
    readonly effectiveInterval: number | undefined
  }
  /** Whether webhooks announced its ends; absent if it accepts none. */
  readonly ends?: { readonly isSilent: () => boolean }
  /** The name of the daemon that polls the target, if several daemons share the store and one of them polls it. */
  readonly owner: () => string | undefined
  /** The progress of the running sweep. */
  readonly progress: () =>
    | { pagesRead: number; pages: number | undefined; secondsLeft?: number | undefined }
    | undefined
  /** How many seconds the rate limit pause still lasts. */
  readonly pausedFor: () => number
  /** Requests a minute for the target's app, if the service's limit allows fewer than configured. */
  readonly slowedTo: () => number | undefined
}
