import { MEASURES, type Measure } from './minutes.ts'
import { COUNTERS, seriesKey } from './series.ts'
import type { TrackedCall } from './tracked-call.ts'

const minutesOf = ({ level, media }: Measure) => `${level} ${media} minutes` as const

/** What the counters can be held against the calls' rows by, for all labels together. Stores hold these names. */
export const QUANTITIES = ['started', 'finished', ...MEASURES.map(minutesOf)] as const
export type Quantity = (typeof QUANTITIES)[number]

/** So much of each quantity, in the order of QUANTITIES. */
export type Amounts = readonly number[]

/** What a store has of a target, all as it was at one moment. */
export type StoredBalance = {
  /** By the counters, minutes less corrections. */
  counters: Amounts
  /** What was counted of the calls that have a row, remembered ones and history. */
  rows: Amounts
  /** What was counted of those whose rows were deleted. */
  settled: Amounts
}

export const NO_AMOUNTS: Amounts = QUANTITIES.map(() => 0)

/** What a call's row stands for in the counters. */
export function amountsOf({ phase, finish, counted }: Pick<TrackedCall, 'phase' | 'finish' | 'counted'>): Amounts {
  return [phase === 'baseline' ? 0 : 1, finish === undefined ? 0 : 1, ...counted]
}

/** The amounts of several calls together. */
export function sumOfAmounts(calls: Iterable<Pick<TrackedCall, 'phase' | 'finish' | 'counted'>>): Amounts {
  const sums = [...NO_AMOUNTS]
  for (const call of calls) for (const [i, amount] of amountsOf(call).entries()) sums[i]! += amount
  return sums
}

/** What the counters come to. */
export function countedAmounts(counters: Iterable<readonly [key: string, value: number]>): Amounts {
  const sums = [...NO_AMOUNTS]
  for (const [key, value] of counters) {
    for (const [i, places] of PLACES.entries()) {
      for (const { is, sign } of places) if (is(key)) sums[i]! += sign * value
    }
  }
  return sums
}

/** Where the counters of a quantity differ from what the calls come to. */
export type Imbalance = { quantity: Quantity; counters: number; calls: number }

/** Sums of floats are not exact; relative, and below one by itself. */
const TOLERANCE = 1e-9

/** Holds that counters are what rows and deleted rows come to. */
export function imbalancesOf({ counters, rows, settled }: StoredBalance): Imbalance[] {
  return QUANTITIES.flatMap((quantity, i) => {
    const [counted, calls] = [counters[i]!, rows[i]! + settled[i]!]
    const isEqual = Math.abs(counted - calls) <= TOLERANCE * Math.max(1, Math.abs(counted), Math.abs(calls))
    return isEqual ? [] : [{ quantity, counters: counted, calls }]
  })
}

type Place = { is: (key: string) => boolean; sign: 1 | -1 }

/** The series that each quantity is made of. */
const PLACES: readonly Place[][] = [
  [{ is: (key) => key.startsWith(`${COUNTERS.started.name}|`), sign: 1 }],
  [{ is: (key) => key.startsWith(`${COUNTERS.finished.name}|`), sign: 1 }],
  ...MEASURES.map(({ level, media }): Place[] => {
    const correction = seriesKey(COUNTERS.corrections, media, level)
    const isMinutes =
      level === 'call'
        ? (key: string) => key.startsWith(`${COUNTERS.callMinutes.name}|`) && key.endsWith(`|${media}`)
        : (key: string) => key === seriesKey(COUNTERS.participantMinutes, media)
    return [
      { is: isMinutes, sign: 1 },
      { is: (key) => key === correction, sign: -1 },
    ]
  }),
]
