import type { RuleLabel } from '../../../alerts/rule.ts'
import { oneOf } from '../scalars.ts'

/** The labels of calls that alerts can be told apart by. */
export const callLabels = ['type', 'mode', 'receiver_type'] as const satisfies RuleLabel[]

/** Their values: those that the calls service documents, and `other` for the rest. */
export function labelValues() {
  return {
    type: oneOf(['audio', 'video', 'other']).optional().describe('The type of the call'),
    mode: oneOf(['call', 'meet', 'presenter', 'other']).optional().describe('The mode of the call; only `call` rings'),
    receiver_type: oneOf(['user', 'group', 'other']).optional().describe('Whom the call is for'),
  }
}
