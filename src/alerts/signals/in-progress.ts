import { amount } from '../../schema/scalars.ts'
import { someCalls } from '../../text/format.ts'
import { groupOf, hysteresis, selectorOf, whileScraped, WHOLE_VALUE } from '../promql.ts'
import { RULE_LABELS } from '../groups.ts'
import { eitherSide, labelled } from '../rule-keys.ts'
import { beyond, callSignal, measureNumber } from '../signal.ts'

export const inProgress = callSignal({
  name: 'in_progress',
  description: 'Open calls now',
  keys: { ...labelled, ...eitherSide(amount) },
  unit: 'calls',
  isReplayable: false,
  calls: ({ open }) => open,
  statuses: () => ['in_progress'],
  measure: measureNumber,
  describe: ({ value }) => `${someCalls(value)} ${value > 1 ? 'are' : 'is'} open now`,
  inWords: (rule) => `${beyond(rule, 'calls')} open at once`,
  prometheus: (rule, interval) => {
    // Two daemons may export a target while it moves.
    const labels = ['target', ...RULE_LABELS, 'status'].join(', ')
    const open = `max by (${labels}) (callwatch_calls_in_progress${selectorOf(rule.match)})`
    const value = `sum by (${groupOf(rule)}) (${open})`
    return { expr: whileScraped(hysteresis(rule, value), rule, interval), records: [], calls: WHOLE_VALUE }
  },
})
