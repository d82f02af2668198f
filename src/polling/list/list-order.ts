import type { ListedCall } from '../../ledger/observation.ts'

/** The order of the service's list, as its pages have shown it. */
type ListOrder = 'newest first' | 'oldest first' | 'unknown'

/** How often time rises and falls from one call of a page to the next. */
export type OrderEvidence = { readonly rises: number; readonly falls: number }

export const NO_EVIDENCE: OrderEvidence = { rises: 0, falls: 0 }

/** Ten different times in order are the least evidence. */
export const STEPS_NEEDED = 9
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

/**
 * Whether a time is probably wrong: it rises above or falls below those around it, which are in order without it. Most calls of a busy
 * second have one time, and a page of them has few steps, of which two wrong dates would be many.
 */
function isOdd(times: readonly number[], i: number): boolean {
  const [before, time, after] = [times[i - 1], times[i]!, times[i + 1]]
  if (before === undefined || after === undefined || (time - before) * (after - time) >= 0) return false
  const around = [times[i - 2] ?? before, before, after, times[i + 2] ?? after]
  const steps = around.slice(1).map((each, n) => each - around[n]!)
  return steps.every((step) => step <= 0) || steps.every((step) => step >= 0)
}

/** Adds a page to the evidence. If the page alone shows another order, it replaces all earlier evidence. */
export function addToEvidence(evidence: OrderEvidence, calls: readonly ListedCall[]): OrderEvidence {
  const times = calls.flatMap((call) => ownStart(call) ?? [])
  const starts = times.filter((_time, i) => !isOdd(times, i))
  const rises = starts.filter((start, i) => start > starts[i - 1]!).length
  const falls = starts.filter((start, i) => start < starts[i - 1]!).length
  const page = { rises, falls }
  const isEnough = rises + falls >= STEPS_NEEDED
  if (isEnough && knownOrder(page) !== knownOrder(evidence)) return knownOrder(page) === 'unknown' ? NO_EVIDENCE : page
  const share = Math.min(1, MAX_STEPS / (evidence.rises + evidence.falls + rises + falls))
  return { rises: (evidence.rises + rises) * share, falls: (evidence.falls + falls) * share }
}

/**
 * Whether a reading finds the list sorted across pages, by when the calls began. The reading starts at the newest calls, so a
 * later page never has newer calls than an earlier one. Changed in place.
 */
export type OrderAcrossPages = {
  /** Most calls of some page began before this time (UNIX seconds). */
  bound: number
  /** How many of the latest calls in a row began long after the bound. */
  above: number
  /** Whether a later page was newer than the bound allows. */
  isBroken: boolean
  /** Start times on pages that have too few calls to decide. */
  pending: readonly number[]
}

/** Fewer calls do not show where a page belongs, so they are added to the next page. */
const MIN_CALLS = 5
/**
 * If more calls in a row are that much newer than most of an earlier page, their dates are not wrong: new calls may be there
 * too.
 */
const MAX_IN_A_ROW = 3
const FAR_SECONDS = 600

export function newOrderAcrossPages(): OrderAcrossPages {
  return { bound: Infinity, above: 0, isBroken: false, pending: [] }
}

/**
 * Adds the next page. Its median must not be newer than most of an earlier page, and only a few calls in a row may be far
 * newer. Single calls with a wrong date are tolerated.
 *
 * @param starts when the calls that no earlier page has shown began (UNIX seconds), from the newest end inwards
 */
export function addToOrder(order: OrderAcrossPages, starts: readonly number[]): void {
  for (const start of starts) {
    order.above = start > order.bound + FAR_SECONDS ? order.above + 1 : 0
    order.isBroken ||= order.above > MAX_IN_A_ROW
  }
  const times = new Float64Array([...order.pending, ...starts]).toSorted()
  const isEnough = times.length >= MIN_CALLS
  order.pending = isEnough ? [] : [...times]
  if (!isEnough) return
  const at = (share: number) => times[Math.floor(times.length * share)]!
  order.isBroken ||= at(0.5) > order.bound
  order.bound = Math.min(order.bound, at(0.85))
}
