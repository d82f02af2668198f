import type { SeenCall } from '../ledger/call.ts'

/** How the service orders its list, as far as it has shown. */
export type ListOrder = 'newest first' | 'oldest first' | 'unknown'

/** What was seen of the order: how many distinct times came in it, one after the other. */
export type OrderEvidence = { readonly order: Exclude<ListOrder, 'unknown'> | undefined; readonly times: number }

export const NO_EVIDENCE: OrderEvidence = { order: undefined, times: 0 }

/** A single call with a wrong date does not make another order: it steps out of it once and back again. */
const TOLERATED = 0.1
/** Times that must come in order before it is believed. */
const TIMES_NEEDED = 10

/** The order that the evidence proves. */
export function provenOrder({ order, times }: OrderEvidence): ListOrder {
  return order !== undefined && times >= TIMES_NEEDED ? order : 'unknown'
}

/** The evidence of an order that was proven before, by an earlier look. */
export function evidenceOf(order: ListOrder): OrderEvidence {
  return order === 'unknown' ? NO_EVIDENCE : { order, times: TIMES_NEEDED }
}

/** The evidence with one more page. The first page that contradicts, itself or what came before, wipes it out. */
export function learnOrder(evidence: OrderEvidence, calls: readonly SeenCall[]): OrderEvidence {
  let rises = 0
  let falls = 0
  let last: number | undefined
  for (const { initiatedAt, startedAt, endedAt } of calls) {
    const began = initiatedAt ?? startedAt ?? endedAt
    if (began === undefined) continue
    if (last !== undefined && began > last) rises += 1
    if (last !== undefined && began < last) falls += 1
    last = began
  }
  const steps = Math.max(rises, falls)
  if (steps === 0) return evidence
  if (Math.min(rises, falls) > steps * TOLERATED) return NO_EVIDENCE
  const order = rises > falls ? 'oldest first' : 'newest first'
  const times = steps + 1
  return evidence.order === order ? { order, times: evidence.times + times } : { order, times }
}
