import { QUANTITIES, sumOfAmounts, type Amounts, type Quantity } from '../ledger/balance.ts'
import type { TrackedCall } from '../ledger/tracked-call.ts'

/** The amounts of a target's rows of `settled`; undefined where it has none. */
export function settledAmounts(rows: readonly Record<string, unknown>[]): Amounts | undefined {
  if (rows.length === 0) return undefined
  const values = new Map(rows.map(({ quantity, value }) => [quantity, Number(value)]))
  return QUANTITIES.map((quantity) => values.get(quantity) ?? 0)
}

/** What is added to `settled` for calls whose rows are deleted in the same transaction. */
export function settledOf(deleted: readonly TrackedCall[]): (readonly [quantity: Quantity, amount: number])[] {
  const sums = sumOfAmounts(deleted)
  return QUANTITIES.map((quantity, i) => [quantity, sums[i]!] as const).filter(([, amount]) => amount !== 0)
}
