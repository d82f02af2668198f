import type { ListedCall } from '../../ledger/observation.ts'

/** The order of the service's list, as its pages have shown it. */
export type ListOrder = 'newest first' | 'oldest first' | 'unknown'

/** How often time rises and falls from one call of a page to the next. */
export type OrderEvidence = { readonly rises: number; readonly falls: number }

export const NO_EVIDENCE: OrderEvidence = { rises: 0, falls: 0 }

/** Ten different times in order are the least evidence. */
const STEPS_NEEDED = 9
/** Tolerates two calls with a wrong date on a page of twenty. On a shuffled page, half of the steps rise. */
const TOLERATED = 0.15
/** Older evidence loses weight, so that a change of the order is noticed. */
const MAX_STEPS = 500

/** The order that the evidence shows; `unknown` if the evidence is too weak or contradicts itself. */
export function knownOrder({ rises, falls }: OrderEvidence): ListOrder {
  const steps = rises + falls
  if (steps < STEPS_NEEDED || Math.min(rises, falls) > steps * TOLERATED) return 'unknown'
  return rises > falls ? 'oldest first' : 'newest first'
}

/** The evidence to start with if an earlier poll knew at which page new calls appear. */
export const EVIDENCE_OF: Record<'first' | 'last', OrderEvidence> = {
  first: { rises: 0, falls: STEPS_NEEDED },
  last: { rises: STEPS_NEEDED, falls: 0 },
}

/** When a call began (UNIX seconds), or its earliest known time; undefined if it has none. */
export function ownStart({ initiatedAt, startedAt, endedAt }: ListedCall): number | undefined {
  return initiatedAt ?? startedAt ?? endedAt
}

/** Adds a page to the evidence. If the page alone shows another order, it replaces all earlier evidence. */
export function learnOrder(evidence: OrderEvidence, calls: readonly ListedCall[]): OrderEvidence {
  let rises = 0
  let falls = 0
  let last: number | undefined
  for (const call of calls) {
    const start = ownStart(call)
    if (start === undefined) continue
    if (last !== undefined && start > last) rises += 1
    if (last !== undefined && start < last) falls += 1
    last = start
  }
  const page = { rises, falls }
  const isEnough = rises + falls >= STEPS_NEEDED
  if (isEnough && knownOrder(page) !== knownOrder(evidence)) return knownOrder(page) === 'unknown' ? NO_EVIDENCE : page
  const share = Math.min(1, MAX_STEPS / (evidence.rises + evidence.falls + rises + falls))
  return { rises: (evidence.rises + rises) * share, falls: (evidence.falls + falls) * share }
}
