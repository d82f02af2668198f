import type { Call } from '../../../../src/simulator/calls/call.ts'
import { courseOf, type Course, type Moment } from '../../../../src/simulator/calls/call-at.ts'
import type { Life } from '../../../../src/simulator/calls/life.ts'
import type { Entry } from '../../../../src/simulator/calls/world.ts'

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
  | 'identified'

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

/** A life with anomalies. */
export type TurnedLife = Life & {
  /** What the call is shown as while it rings, where that is not `initiated`. */
  firstStatus?: string
  /** From when on the service shows `endedAt`, where that is later than the end; Infinity for never. */
  endShownMs?: number
  /** It would last for years: it ends when the world is healed. */
  endsWhenHealed?: boolean
  /** From when on the service shows the call's `mid`, where that is later than the first join; Infinity for never. */
  midShownMs?: number
  /** Another row of the list is the same call. */
  isDoubled?: boolean
  /** The call of its session that was in its place. */
  replaces?: Entry
  /** What else happens to the call, in the order of time. */
  turns?: readonly Turn[]
  /** What the wire shows instead of the call as it is, where that differs for good. */
  shown?: (call: Call) => Record<string, unknown>
}

/** For turns that change no figure of the call: it vanishes or returns, or shows what was already so. */
export const unchanged = (call: Call): Call => call

/** The call with all its times later by so many seconds. */
export function shifted({ initiatedAt, startedAt, endedAt, ...call }: Call, seconds: number): Call {
  return {
    ...call,
    ...(initiatedAt === undefined ? {} : { initiatedAt: initiatedAt + seconds }),
    ...(startedAt === undefined ? {} : { startedAt: startedAt + seconds }),
    ...(endedAt === undefined ? {} : { endedAt: endedAt + seconds }),
  }
}

/** For what has always been so. */
export function always(change: (call: Call) => Call): Turn {
  return { ms: 0, name: 'corrected', change }
}

export function withTurns(life: TurnedLife, ...turns: Turn[]): TurnedLife {
  return { ...life, turns: [...(life.turns ?? []), ...turns].toSorted((a, b) => a.ms - b.ms) }
}

/** The same life without the turns that are still to come after `ms`; what has been turned is still turned back. */
export function calmed(life: TurnedLife, ms: number): TurnedLife {
  if (!life.turns) return life
  return { ...life, turns: life.turns.filter((turn) => (turn.undoes ?? turn).ms <= ms) }
}

/** Whether the call is there at a moment, as far as its turns go. */
function isGone(life: TurnedLife, ms: number): boolean {
  const last = life.turns?.findLast((turn) => turn.ms <= ms && (turn.name === 'vanished' || turn.name === 'returned'))
  return last?.name === 'vanished'
}

/** How a call goes with its turns: minutes may fall, and much may happen after its end. */
export function turnedCourse(life: TurnedLife): Course {
  const plain = courseOf(life)
  return { at: (ms) => turnedAt(life, plain.at(ms), ms), after: (ms) => momentAfter(life, plain, ms) }
}

function turnedAt(life: TurnedLife, plain: Call, ms: number): Call {
  const { firstStatus, endShownMs = -Infinity, midShownMs = -Infinity, turns = [] } = life
  const call = { ...plain }
  if (firstStatus !== undefined && call.status === 'initiated') call.status = firstStatus
  if (ms < endShownMs) delete call.endedAt
  const turned = turns.reduce((before, turn) => (turn.ms <= ms ? turn.change(before) : before), call)
  return ms < midShownMs ? withoutMid(turned) : turned
}

function withoutMid({ mid: _mid, ...call }: Call): Call {
  return { ...call, participants: call.participants.map(({ mid: _own, ...one }) => one) }
}

/** None after the call's end and its last turn, nor while it has vanished. */
function momentAfter(life: TurnedLife, course: Course, ms: number): Moment | undefined {
  const plain = course.after(ms)
  if (!life.turns) return plain
  const turn = life.turns.find((each) => each.ms > ms && each.ms > life.initiatedMs)
  const next = turn && { ms: turn.ms, happening: turn.name }
  if (isGone(life, ms)) return next
  return next && (!plain || next.ms <= plain.ms) ? next : plain
}
