import { labelCode } from './call-codes.ts'
import type { ChangedFinish, FinishedCall, Period, Tally } from './finished-calls.ts'

/** The calls that finished in a period, from its beginning until before its end, added up. */
export type SummedCalls = Period & { readonly tallies: readonly Tally[] }

type Counted = Pick<Tally, 'status' | 'labels'> & { readonly n?: number }

/** Adds up calls, or sums of calls, by status and labels. */
export function addUp(calls: Iterable<Counted>): Tally[] {
  const sums = new Map<string, Tally>()
  for (const { status, labels, n = 1 } of calls) {
    const key = `${status} ${labelCode(labels)}`
    sums.set(key, { status, labels, isRecorded: false, n: (sums.get(key)?.n ?? 0) + n })
  }
  return [...sums.values()]
}

/** The same calls with others, and with what changed of them. */
export function summedWith(
  summed: SummedCalls,
  added: readonly FinishedCall[],
  changed: readonly ChangedFinish[] = [],
): SummedCalls {
  const changes = changed.flatMap(({ before, after }) => [
    { ...before, n: -1 },
    { ...after, n: 1 },
  ])
  const inside = [...added, ...changes].filter(({ at }) => at >= summed.from && at < summed.to)
  return inside.length === 0 ? summed : { ...summed, tallies: addUp([...summed.tallies, ...inside]) }
}
