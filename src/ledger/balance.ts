import { isEqual, MEASURES, minutesOf } from './delta/minutes.ts'
import { COUNTERS, sumOf } from './series.ts'
import type { TrackedCall } from './tracked-call.ts'

/**
 * The quantities in which counters and rows of calls are compared, summed over all labels. The store contains these names.
 */
export const QUANTITIES = ['started', 'finished', ...MEASURES.map(minutesOf)] as const
export type Quantity = (typeof QUANTITIES)[number]

/** An amount of each quantity, in the order of QUANTITIES. */
export type Amounts = readonly number[]

/** The sums of a target in the store, all read at the same time. */
export type StoredBalance = {
  /** The sums of the counters; for minutes, less the corrections. */
  counters: Amounts
  /** What was counted of calls that have a row, tracked or in the history. */
  rows: Amounts
  /** What was counted of calls whose rows were deleted. */
  deletedTotals: Amounts
}

/** What a call contributes to each quantity. */
export function amountsOf({ phase, finish, minutes }: Pick<TrackedCall, 'phase' | 'finish' | 'minutes'>): Amounts {
  return [phase === 'baseline' ? 0 : 1, finish === undefined ? 0 : 1, ...minutes]
}

/** The sum over several calls. */
export function sumOfAmounts(calls: Iterable<Pick<TrackedCall, 'phase' | 'finish' | 'minutes'>>): Amounts {
  const sums: number[] = QUANTITIES.map(() => 0)
  for (const call of calls) for (const [i, amount] of amountsOf(call).entries()) sums[i]! += amount
  return sums
}

/** The sums of the counters. */
export function countedAmounts(counters: ReadonlyMap<string, number>): Amounts {
  const minutes = MEASURES.map(({ level, media }) => {
    const counter = level === 'call' ? COUNTERS.callMinutes : COUNTERS.participantMinutes
    const corrected = sumOf({ counters }, COUNTERS.corrections, ([medium, of]) => medium === media && of === level)
    return sumOf({ counters }, counter, (labels) => labels.at(-1) === media) - corrected
  })
  return [sumOf({ counters }, COUNTERS.started), sumOf({ counters }, COUNTERS.finished), ...minutes]
}

/** A quantity in which the counters differ from the sum of the calls. */
export type Imbalance = { quantity: Quantity; counters: number; calls: number }

/** Compares the counters with the sum of all rows, including deleted ones. */
export function imbalancesOf({ counters, rows, deletedTotals }: StoredBalance): Imbalance[] {
  return QUANTITIES.flatMap((quantity, i) => {
    const [counted, calls] = [counters[i]!, rows[i]! + deletedTotals[i]!]
    return isEqual(counted, calls) ? [] : [{ quantity, counters: counted, calls }]
  })
}
