import { seconds } from '../../schema/duration.ts'
import { someCalls } from '../../text/format.ts'
import { eitherSide, labelled, minCalls, windowed } from '../rule-keys.ts'
import { beyond, callSignal, formatIn, inWindow } from '../signal.ts'

export const answerDelayP95 = callSignal({
  name: 'answer_delay_p95',
  description: 'The 95th percentile of the answer delay in the window',
  keys: { ...labelled, ...windowed, ...minCalls, ...eitherSide(seconds) },
  unit: 'seconds',
  isReplayable: true,
  calls: ({ finished }, { from, to }) => finished.between(from, to),
  statuses: () => ['ended'],
  measure: (calls) => {
    const delays = calls.flatMap(({ answerDelay }) => answerDelay ?? []).toSorted((a, b) => a - b)
    // The nearest rank: the smallest value that at least 95% of the delays do not exceed.
    return { value: delays[Math.ceil(delays.length * 0.95) - 1] ?? NaN, calls: delays.length }
  },
  describe: ({ value, calls = 0 }, signal) =>
    `answer delay of ${someCalls(calls, 'answered ')} that finished ${inWindow(signal)}: ` +
    `${formatIn('seconds', value)} at the 95th percentile`,
  inWords: (rule) => `one in twenty calls ${inWindow(rule.signal)} was answered after ${beyond(rule, 'seconds')}`,
})
