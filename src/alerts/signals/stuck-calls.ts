import { duration } from '../../schema/duration.ts'
import { amount, oneOf } from '../../schema/scalars.ts'
import { OPEN_STATUSES } from '../../ledger/call.ts'
import { sessionOf } from '../../ledger/identity.ts'
import { beganAt, type TrackedCall } from '../../ledger/tracked-call.ts'
import { formatSeconds, someCalls } from '../../text/format.ts'
import { clear, labelled } from '../rule-keys.ts'
import { beyond, callSignal, measureNumber } from '../signal.ts'

export const stuckCalls = callSignal({
  name: 'stuck_calls',
  description: 'Calls that have been open for very long',
  keys: {
    status: oneOf(OPEN_STATUSES).optional().describe('Only calls with this status; default: all open calls'),
    longer_than: duration().prefault('3h').describe('How long a call must have been open'),
    ...labelled,
    above: amount().prefault(0).describe('More such calls than this are a breach'),
    clear: clear(amount()),
  },
  unit: 'calls',
  calls: ({ open, now }, _window, { status, longerThan }) =>
    open.filter((call) => (status ?? call.status) === call.status && beganAt(call) < now - longerThan),
  statuses: ({ status }) => [status ?? 'in_progress'],
  measure: measureNumber,
  oldest: (calls: readonly TrackedCall[]) => {
    const [first] = calls.toSorted((a, b) => beganAt(a) - beganAt(b))
    return first && { session: sessionOf(first), began: beganAt(first) }
  },
  describe: ({ value }, signal) => `${someCalls(value)} ${value > 1 ? 'have' : 'has'} been ${longer(signal)}`,
  inWords: (rule) => `${beyond(rule, 'calls')} ${longer(rule.signal)}`,
  // One stuck call is already a problem.
  needsNoThreshold: ({ breach, threshold }) => breach === 'above' && threshold === 0,
})

const WORDS = { initiated: 'ringing', ongoing: 'ongoing' }

/** `ringing for longer than 5m`. */
function longer({ status, longerThan }: { status?: keyof typeof WORDS | undefined; longerThan: number }): string {
  return `${status === undefined ? 'open' : WORDS[status]} for longer than ${formatSeconds(longerThan)}`
}
