import { FINAL_STATUSES } from '../../ledger/call.ts'
import { amount } from '../../schema/scalars.ts'
import { someCalls } from '../../text/format.ts'
import { eitherSide, labelled, windowed } from '../rule-keys.ts'
import { beyond, callSignal, inWindow, measureNumber } from '../signal.ts'

export const callsFinished = callSignal({
  name: 'calls_finished',
  description: 'Calls that finished in the window',
  keys: { ...labelled, ...windowed, ...eitherSide(amount) },
  unit: 'calls',
  isReplayable: true,
  calls: ({ finished }, { from, to }) => finished.tally(from, to),
  statuses: () => [...FINAL_STATUSES, 'other'],
  measure: measureNumber,
  describe: ({ value }, signal) => `${someCalls(value)} finished ${inWindow(signal)}`,
  inWords: (rule) => `${beyond(rule, 'calls')} finished ${inWindow(rule.signal)}`,
})
