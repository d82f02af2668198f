import type { UsageFormula } from '../ledger/usage.ts'
import { computedColumns } from '../store/call-columns.ts'
import type { RowReader } from '../store/sql.ts'
import { callsQuery, select } from './call-filter.ts'
import type { Period } from './days.ts'
import { historyScope } from './history-scope.ts'

/** What may be rounded up to whole minutes before it is added up. */
export const ROUNDED = ['nothing', 'call', 'participant'] as const

/** A way to add up the minutes of a period, and what it comes to. */
export type MinuteSum = {
  of: UsageFormula
  rounded: (typeof ROUNDED)[number]
  /** Whether calls that one participant joined count. */
  withAlone: boolean
  minutes: number
}

/**
 * The minutes of a call. Those of each participant are not stored: rounded up, they are half a minute more on average.
 */
const MINUTES: Readonly<Record<UsageFormula, Readonly<Record<MinuteSum['rounded'], string>>>> = {
  participants: {
    nothing: 'sum_of_participants',
    call: 'ceil(participant_audio) + ceil(participant_video)',
    participant: 'CASE WHEN sum_of_participants > 0 THEN sum_of_participants + 0.5 * coalesce(joined, 0) ELSE 0 END',
  },
  duration: {
    nothing: 'user_minutes',
    call: 'ceil(user_minutes)',
    participant: 'joined * ceil(user_minutes / joined)',
  },
}

/**
 * The minutes of the calls of a target that finished in a period, added up in each way in which a vendor may do it.
 *
 * @throws {StoreError} if the store cannot be read now
 */
export async function minuteSums(store: RowReader, target: string, { from, to }: Period): Promise<MinuteSum[]> {
  const { numbers } = await historyScope(store, { targets: [target] }, from)
  const ways = (['participants', 'duration'] as const).flatMap((of) =>
    ROUNDED.flatMap((rounded) => [true, false].map((withAlone) => ({ of, rounded, withAlone }))),
  )
  const sums = ways.map(({ of, rounded, withAlone }, i) => {
    const each = MINUTES[of][rounded]
    return `coalesce(sum(${withAlone ? each : `CASE WHEN joined > 1 THEN ${each} ELSE 0 END`}), 0) AS way${i}`
  })
  const columns = `participant_audio, participant_video, participant_audio + participant_video AS sum_of_participants,
    nullif(total_participants, 0) AS joined, ${computedColumns('user_minutes')}`
  const [row] = await select(store, (add) => {
    const calls = callsQuery(columns, {}, numbers, (each) => `AND finished >= ${each(from)} AND finished < ${each(to)}`)
    return `SELECT ${sums.join(', ')} FROM (${calls(add)}) AS calls`
  })
  return ways.map((way, i) => ({ ...way, minutes: Number(row?.[`way${i}`]) }))
}
