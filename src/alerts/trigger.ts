import type { WindowEnd } from '../ledger/failure-ratio.ts'
import type { FinishedCalls } from '../ledger/finished-calls.ts'
import type { TrackedCall } from '../ledger/tracked-call.ts'

/** What rules are evaluated on: a successful poll, or a tick between polls, at which only the age of the last poll is known. */
export type Trigger = Poll | Tick

/** A successful poll, with all that it changes already counted. Times are UNIX seconds by the service's clock. */
export type Poll = WindowEnd & {
  kind: 'poll'
  /** The service did not show all of its list: there may be unseen calls. */
  limited: boolean
  finished: FinishedCalls
  open: readonly TrackedCall[]
  /** When the target was set up: what came before is not known. */
  created: number
  /** Participant minutes counted since a moment. */
  usedSince: (time: number) => number
}

export type Tick = {
  kind: 'tick'
  /** Seconds since the last successful poll. */
  pollAge: number
  /** Why the last poll was not, where that is known. */
  cause?: string
}

/** From when to when the calendar month of a moment lasts in a time zone (UNIX seconds). */
export type MonthOf = (time: number, timezone: string) => { from: number; to: number }

/**
 * When rules were evaluated, by the host's clock (UNIX seconds), and on what beside the calls: enough to evaluate the
 * same history again. A tick is kept where it changed something or the last poll is long ago.
 */
export type EvaluationRecord = { at: number } & ((WindowEnd & Pick<Poll, 'kind' | 'limited'>) | Tick)
