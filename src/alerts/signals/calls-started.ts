import { amount } from '../../schema/scalars.ts'
import { beganAt } from '../../ledger/tracked-call.ts'
import { someCalls } from '../../text/format.ts'
import { eitherSide, labelled, windowed } from '../rule-keys.ts'
import { beyond, callSignal, inWindow, measureNumber } from '../signal.ts'

export const callsStarted = callSignal({
  name: 'calls_started',
  description: 'Calls that began in the window',
  keys: { ...labelled, ...windowed, ...eitherSide(amount) },
  unit: 'calls',
  calls: ({ finished, open }, { from, to }) => {
    const isInside = (began: number) => began >= from && began <= to
    // A call that began in the window has either finished since, or is still open.
    const ended = finished.between(from, Infinity).filter(({ began }) => isInside(began))
    return [...ended, ...open.filter((call) => isInside(beganAt(call)))]
  },
  measure: measureNumber,
  describe: ({ value }, signal) => `${someCalls(value)} began ${inWindow(signal)}`,
  inWords: (rule) => `${beyond(rule, 'calls')} began ${inWindow(rule.signal)}`,
})
