import type { ListedCall } from '../ledger/observation.ts'

/** How the service orders its list, as far as it has shown. */
export type ListOrder = 'newest first' | 'oldest first' | 'unknown'

/** What was seen of the order: steps from one call of a page to the next that rise and fall in time. */
export type OrderEvidence = { readonly rises: number; readonly falls: number }

export const NO_EVIDENCE: OrderEvidence = { rises: 0, falls: 0 }

/** Ten distinct times must come in order before it is believed. */
const STEPS_NEEDED = 9
/** Two calls with a wrong date in a page of twenty do not make another order; of a shuffled page half of the steps rise. */
const TOLERATED = 0.15
/** Older evidence counts less: an order that changes is to be noticed. */
const MOST_STEPS = 500

/** The order that the evidence proves. */
export function provenOrder({ rises, falls }: OrderEvidence): ListOrder {
  const steps = rises + falls
  if (steps < STEPS_NEEDED || Math.min(rises, falls) > steps * TOLERATED) return 'unknown'
  return rises > falls ? 'oldest first' : 'newest first'
}

/** The evidence of an order that was proven before, by an earlier poll. */
export function evidenceOf(order: ListOrder): OrderEvidence {
  return { rises: order === 'oldest first' ? STEPS_NEEDED : 0, falls: order === 'newest first' ? STEPS_NEEDED : 0 }
}

/** When a call began, as far as it says so (UNIX seconds). */
export function ownBeginning({ initiatedAt, startedAt, endedAt }: ListedCall): number | undefined {
  return initiatedAt ?? startedAt ?? endedAt
}

/** When half of a page's calls had begun (UNIX seconds); `Infinity` where none says so. */
export function middleTime(calls: readonly ListedCall[]): number {
  const times = Float64Array.from(calls.flatMap((call) => ownBeginning(call) ?? [])).toSorted()
  return times[times.length >> 1] ?? Infinity
}

/** The evidence with one more page. A page that by itself proves anything else than what came before wipes that out. */
export function learnOrder(evidence: OrderEvidence, calls: readonly ListedCall[]): OrderEvidence {
  let rises = 0
  let falls = 0
  let last: number | undefined
  for (const call of calls) {
    const began = ownBeginning(call)
    if (began === undefined) continue
    if (last !== undefined && began > last) rises += 1
    if (last !== undefined && began < last) falls += 1
    last = began
  }
  const page = { rises, falls }
  const isTelling = rises + falls >= STEPS_NEEDED
  if (isTelling && provenOrder(page) !== provenOrder(evidence))
    return provenOrder(page) === 'unknown' ? NO_EVIDENCE : page
  const share = Math.min(1, MOST_STEPS / (evidence.rises + evidence.falls + rises + falls))
  return { rises: (evidence.rises + rises) * share, falls: (evidence.falls + falls) * share }
}
