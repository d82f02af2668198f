import { duration } from '../../schema/duration.ts'
import { amount } from '../../schema/scalars.ts'
import { beganAt } from '../../ledger/tracked-call.ts'
import { formatSeconds, someCalls } from '../../text/format.ts'
import { clear, labelled } from '../rule-keys.ts'
import { beyond, callSignal, measureNumber } from '../signal.ts'

export const stuckCalls = callSignal({
  name: 'stuck_calls',
  description: 'Calls that have been open for very long',
  keys: {
    longer_than: duration().prefault('3h').describe('How long a call must have been open'),
    ...labelled,
    above: amount().prefault(0).describe('More such calls than this are a breach'),
    clear: clear(amount()),
  },
  unit: 'calls',
  isReplayable: false,
  calls: ({ open, now }, _window, { longerThan }) => open.filter((call) => beganAt(call) < now - longerThan),
  measure: measureNumber,
  describe: ({ value }, { longerThan }) =>
    `${someCalls(value)} ${value > 1 ? 'have' : 'has'} been open for longer than ${formatSeconds(longerThan)}`,
  inWords: (rule) => `${beyond(rule, 'calls')} open for longer than ${formatSeconds(rule.signal.longerThan)}`,
  // One stuck call is already a problem.
  needsNoThreshold: ({ breach, threshold }) => breach === 'above' && threshold === 0,
})
