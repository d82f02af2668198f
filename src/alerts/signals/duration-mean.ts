import { seconds } from '../../schema/duration.ts'
import { someCalls } from '../../text/format.ts'
import { eitherSide, labelled, minCalls, windowed } from '../rule-keys.ts'
import { beyond, callSignal, formatIn, inWindow, sum } from '../signal.ts'

export const durationMean = callSignal({
  name: 'duration_mean',
  description: 'The mean duration of the calls that ended in the window',
  keys: { ...labelled, ...windowed, ...minCalls, ...eitherSide(seconds) },
  unit: 'seconds',
  isReplayable: true,
  calls: ({ finished }, { from, to }) => finished.between(from, to),
  statuses: () => ['ended'],
  measure: (calls) => {
    const durations = calls.flatMap(({ duration }) => duration ?? [])
    return { value: sum(durations) / durations.length, calls: durations.length }
  },
  describe: ({ value, calls = 0 }, signal) =>
    `mean duration of ${someCalls(calls)} that ended ${inWindow(signal)}: ${formatIn('seconds', value)}`,
  inWords: (rule) => `calls that ended ${inWindow(rule.signal)} lasted ${beyond(rule, 'seconds')} on average`,
})
