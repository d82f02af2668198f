import { type UsageKey } from '../../../src/history/usage-keys.ts'
import { usageOf } from '../history/as-shown.ts'
import { QUANTITIES, sumOfAmounts } from '../../../src/ledger/balance.ts'
import type { StoreReader } from '../../../src/store/reader.ts'

/** By what the reports are asked for: their sums are the same. */
const KEYS: readonly (readonly UsageKey[])[] = [[], ['day', 'type', 'mode', 'receiver_type']]

/**
 * Where a report over all of the history of a target differs from its counters less corrections, less open calls, less what
 * was counted of deleted rows. No daemon may write meanwhile.
 */
export async function reportProblems(reader: StoreReader, target: string): Promise<string[]> {
  const { counters, deletedTotals } = await reader.balance(target)
  const open = [...(await reader.calls(target)).values()].filter(({ phase }) => phase === 'open')
  const openAmounts = sumOfAmounts(open)
  const expected = counters.map((counted, i) => counted - deletedTotals[i]! - openAmounts[i]!)
  const problems: string[] = []
  for (const by of KEYS) {
    const rows = await usageOf(reader, { from: 0, to: 4e9, zone: 'UTC', by, targets: [target] })
    const sums = QUANTITIES.map(() => 0)
    for (const { calls, minutes, participant_minutes: participants } of rows) {
      const { lost, ...outcomes } = calls
      const finished = Object.values(outcomes).reduce((sum, n) => sum + n, 0)
      const amounts = [finished + lost, finished, minutes.audio, minutes.video, participants.audio, participants.video]
      for (const [i, amount] of amounts.entries()) sums[i]! += amount
    }
    for (const [i, quantity] of QUANTITIES.entries()) {
      const [found, wanted] = [sums[i]!, expected[i]!]
      if (Math.abs(found - wanted) <= 1e-9 * Math.max(1, Math.abs(counters[i]!))) continue
      problems.push(
        `${target}, ${quantity}: ${found} in the report by ${by.join(', ') || 'nothing'}, ${wanted} counted`,
      )
    }
  }
  return problems
}
