import type { Asked } from '../../../../src/simulator/answers/answer.ts'
import { endedBetween, noPeriod, statsReply } from '../../../../src/simulator/answers/stats.ts'
import type { Call } from '../../../../src/simulator/calls/call.ts'
import type { WorldService } from '../start-world.ts'

const sum = (numbers: readonly number[]) => numbers.reduce((all, n) => all + n, 0)

/** Usage metrics by each way to add up and round that a vendor may have. */
export function stats({ switches, ...service }: WorldService, { query }: Asked) {
  const { usage, usageRounded, usageAlone, usageTimes } = switches
  const calls = endedBetween({ ...service, switches }, query, usageTimes === 'seconds' ? 1 : 1000)
  if (calls === undefined) return noPeriod
  const rounded = (of: typeof usageRounded, n: number) => (usageRounded === of ? Math.ceil(n) : n)
  return statsReply((kind) => {
    const rowsOf = (call: Call) => {
      const joined = call.participants.filter(({ isJoined }) => isJoined)
      if (usageAlone === 'omitted' && joined.length < 2) return []
      if (usage === 'participants') return joined.map((one) => one[`total${kind}Minutes`])
      const { type, startedAt = NaN, endedAt = NaN } = call
      return type === kind.toLowerCase() ? joined.map(() => (endedAt - startedAt) / 60) : []
    }
    const minutes = (call: Call) => rounded('call', sum(rowsOf(call).map((n) => rounded('participant', n))))
    return rounded('total', sum(calls.map(minutes)))
  })
}
