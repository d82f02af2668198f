import { isFinalStatus } from './call.ts'
import type { CallStatus } from './call.ts'
import type { Life } from './life.ts'
import { isGone } from './turn.ts'
import type { TurnName } from './turn.ts'

/**
 * What a call does at a moment: reaches a status, has its figures brought up to date while it runs, takes a turn, or
 * leaves the list for its age; or it comes into the list when it has long been over, or
 * along with a row of the same id that began lately.
 */
export type Happening = CallStatus | 'progress' | 'unlisted' | 'imported' | 'repeated' | TurnName

/** `ms` in whole milliseconds since 1970. */
export type Moment = { ms: number; happening: Happening }

/** The first moment of a life after `ms`; none after its end and its last turn, nor while the call is gone. */
export function momentAfter(life: Life, ms: number): Moment | undefined {
  const plain = plainMomentAfter(life, ms)
  if (!life.turns) return plain
  const turn = life.turns.find((each) => each.ms > ms && each.ms > life.initiatedMs)
  const next = turn && { ms: turn.ms, happening: turn.name }
  if (isGone(life, ms)) return next
  return next && (!plain || next.ms <= plain.ms) ? next : plain
}

function plainMomentAfter(life: Life, ms: number): Moment | undefined {
  const { initiatedMs, startedMs, endedMs } = life
  if (ms < initiatedMs) return { ms: initiatedMs, happening: startedMs === initiatedMs ? 'ongoing' : 'initiated' }
  if (startedMs !== undefined) {
    if (ms < startedMs) return { ms: startedMs, happening: 'ongoing' }
    const next = startedMs + (Math.floor((ms - startedMs) / life.progressMs) + 1) * life.progressMs
    if (next < endedMs) return { ms: next, happening: 'progress' }
  }
  if (ms >= endedMs) return undefined
  return { ms: endedMs, happening: isFinalStatus(life.outcome) ? life.outcome : 'ended' }
}
