import type { CallMode, CallStatus } from '../call.ts'

export type TransitionPoint = CallStatus | 'none' | 'lost'

/** A transition from one status to the next; `observed` if callwatch saw both. */
export type Step = { from: TransitionPoint; to: TransitionPoint; observed: boolean }

/** The documented transitions, exported as 0 from the start. */
export const DOCUMENTED_STEPS: readonly (readonly [TransitionPoint, TransitionPoint])[] = [
  ['none', 'initiated'],
  ['none', 'ongoing'],
  ['initiated', 'ongoing'],
  ['ongoing', 'ended'],
  ['initiated', 'unanswered'],
  ['initiated', 'rejected'],
  ['initiated', 'canceled'],
]

const CALL_PATH = {
  initiated: ['initiated'],
  ongoing: ['initiated', 'ongoing'],
  ended: ['initiated', 'ongoing', 'ended'],
  unanswered: ['initiated', 'unanswered'],
  rejected: ['initiated', 'rejected'],
  canceled: ['initiated', 'canceled'],
} as const

/** Meetings do not ring. */
const MEETING_PATH = { ...CALL_PATH, ongoing: ['ongoing'], ended: ['ongoing', 'ended'] } as const

/**
 * The transitions from one known status to another, including those that must have happened between two polls. A transition
 * from or to `other` or `lost`, backwards, or out of a final status is a single step.
 */
export function stepsBetween(from: TransitionPoint, to: TransitionPoint, mode: CallMode): readonly Step[] {
  const meeting = mode === 'meet' || mode === 'presenter'
  const key = `${from} ${to} ${meeting}`
  let steps = knownSteps.get(key)
  if (steps === undefined) knownSteps.set(key, (steps = computeSteps(from, to, meeting)))
  return steps
}

/** Caches the steps: there are only a few dozen. */
const knownSteps = new Map<string, readonly Step[]>()

function computeSteps(from: TransitionPoint, to: TransitionPoint, meeting: boolean): readonly Step[] {
  if (to === 'other' || to === 'lost' || from === 'other' || from === 'lost') {
    return [{ from, to, observed: from !== 'none' }]
  }
  if (to === 'none') return []
  // A meeting that was seen as initiated continues like a call.
  const path: readonly TransitionPoint[] = (meeting && from !== 'initiated' ? MEETING_PATH : CALL_PATH)[to]
  const start = from === 'none' ? -1 : path.indexOf(from)
  const isForward = from === 'none' || (start >= 0 && start < path.length - 1)
  if (!isForward) return [{ from, to, observed: true }]
  const points: TransitionPoint[] = [from, ...path.slice(start + 1)]
  // Two points are one step, so no step was inferred.
  const observed = points.length === 2
  return points.slice(1).map((point, i) => ({ from: points[i]!, to: point, observed }))
}
