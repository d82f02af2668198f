import { seconds } from '../../schema/duration.ts'
import { clear } from '../rule-keys.ts'
import { formatIn, targetSignal } from '../signal.ts'

export const pollAge = targetSignal({
  name: 'poll_age',
  description: 'Time since the last successful poll of the target',
  keys: {
    above: seconds().describe('A longer time is a breach'),
    clear: clear(seconds()),
  },
  unit: 'seconds',
  isReplayable: true,
  peakName: 'longest gap',
  value: (trigger) => (trigger.kind === 'tick' ? trigger.pollAge : 0),
  describe: ({ value, threshold, kind }) =>
    value > threshold || kind === 'expired'
      ? `no successful poll for ${formatIn('seconds', value)}`
      : 'polls succeed again',
  inWords: ({ threshold }) => `no successful poll for ${formatIn('seconds', threshold)}`,
  needsNoThreshold: ({ value, threshold }) => value <= threshold,
})
