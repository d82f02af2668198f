import { isEqual, MEASURES, minutesOf } from './delta/minutes.ts'
import { COUNTERS, seriesKey } from './series.ts'
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

export const NO_AMOUNTS: Amounts = QUANTITIES.map(() => 0)

/** What a call contributes to each quantity. */
export function amountsOf({ phase, finish, minutes }: Pick<TrackedCall, 'phase' | 'finish' | 'minutes'>): Amounts {
  return [phase === 'baseline' ? 0 : 1, finish === undefined ? 0 : 1, ...minutes]
}

/** The sum over several calls. */
export function sumOfAmounts(calls: Iterable<Pick<TrackedCall, 'phase' | 'finish' | 'minutes'>>): Amounts {
  const sums = [...NO_AMOUNTS]
  for (const call of calls) for (const [i, amount] of amountsOf(call).entries()) sums[i]! += amount
  return sums
}

/** The sums of the counters. */
export function countedAmounts(counters: Iterable<readonly [key: string, value: number]>): Amounts {
  const sums = [...NO_AMOUNTS]
  for (const [key, value] of counters) {
    for (const [i, terms] of TERMS.entries()) {
      for (const { matches, sign } of terms) if (matches(key)) sums[i]! += sign * value
    }
  }
  return sums
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

type Term = { matches: (key: string) => boolean; sign: 1 | -1 }

/** The series whose sum each quantity is. */
const TERMS: readonly Term[][] = [
  [{ matches: (key) => key.startsWith(`${COUNTERS.started.name}|`), sign: 1 }],
  [{ matches: (key) => key.startsWith(`${COUNTERS.finished.name}|`), sign: 1 }],
  ...MEASURES.map(({ level, media }): Term[] => {
    const correction = seriesKey(COUNTERS.corrections, media, level)
    const isMinutes =
      level === 'call'
        ? (key: string) => key.startsWith(`${COUNTERS.callMinutes.name}|`) && key.endsWith(`|${media}`)
        : (key: string) => key === seriesKey(COUNTERS.participantMinutes, media)
    return [
      { matches: isMinutes, sign: 1 },
      { matches: (key) => key === correction, sign: -1 },
    ]
  }),
]
