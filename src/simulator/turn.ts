import type { Call } from './call.ts'
import type { Life } from './life.ts'

/** What a turn is called in the ledger. */
export type TurnName =
  | 'corrected'
  | 'dated'
  | 'recorded'
  | 'final_changed'
  | 'vanished'
  | 'returned'
  | 'relabelled'
  | 'paused'
  | 'resumed'
  | 'set_back'
  | 'reopened'
  | 'ended_again'

/**
 * A change of a call that is an anomaly: no ordinary call has it.
 *
 * `ms` in whole milliseconds since 1970; at 0 it has always been so, and the ledger has no line of its own for it.
 */
export type Turn = {
  ms: number
  name: TurnName
  /** The call as it is from then on, made from what it would be without the turn. */
  change: (call: Call) => Call
  /** The turn that this one takes back: it comes only where that one came. */
  undoes?: Turn
}

/** For turns that change no figure of the call: it vanishes or returns, or shows what was already so. */
export const unchanged = (call: Call): Call => call

/** The call with all its times later by so many seconds. */
export function shifted({ initiatedAt, startedAt, endedAt, ...call }: Call, seconds: number): Call {
  return {
    ...call,
    initiatedAt: initiatedAt + seconds,
    ...(startedAt === undefined ? {} : { startedAt: startedAt + seconds }),
    ...(endedAt === undefined ? {} : { endedAt: endedAt + seconds }),
  }
}

/** For what has always been so. */
export function always(change: (call: Call) => Call): Turn {
  return { ms: 0, name: 'corrected', change }
}

export function withTurns(life: Life, ...turns: Turn[]): Life {
  return { ...life, turns: [...(life.turns ?? []), ...turns].toSorted((a, b) => a.ms - b.ms) }
}

/** The same life without the turns that are still to come after `ms`; what has been turned is still turned back. */
export function calmed(life: Life, ms: number): Life {
  if (!life.turns) return life
  return { ...life, turns: life.turns.filter((turn) => (turn.undoes ?? turn).ms <= ms) }
}

/** Whether the call is there at a moment, as far as its turns go. */
export function isGone(life: Life, ms: number): boolean {
  const last = life.turns?.findLast((turn) => turn.ms <= ms && (turn.name === 'vanished' || turn.name === 'returned'))
  return last?.name === 'vanished'
}
