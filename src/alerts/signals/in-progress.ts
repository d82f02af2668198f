import { amount } from '../../schema/scalars.ts'
import { someCalls } from '../../text/format.ts'
import { eitherSide, labelled } from '../rule-keys.ts'
import { beyond, callSignal, measureNumber } from '../signal.ts'

export const inProgress = callSignal({
  name: 'in_progress',
  description: 'Open calls now',
  keys: { ...labelled, ...eitherSide(amount) },
  unit: 'calls',
  calls: ({ open }) => open,
  statuses: () => ['in_progress'],
  measure: measureNumber,
  describe: ({ value }) => `${someCalls(value)} ${value > 1 ? 'are' : 'is'} open now`,
  inWords: (rule) => `${beyond(rule, 'calls')} open at once`,
})
