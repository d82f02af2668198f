import { duration } from '../../schema/duration.ts'
import { formatNumber, formatSeconds, plural } from '../../text/format.ts'
import { aboveShare, labelled, minCalls, windowed } from '../rule-keys.ts'
import { beyond, callSignal, formatIn, inWindow } from '../signal.ts'

export const shortCalls = callSignal({
  name: 'short_calls',
  description: 'Share of the calls ended in the window that were short',
  keys: {
    shorter_than: duration().prefault('10s').describe('How long a call must last not to be short'),
    ...labelled,
    ...windowed,
    ...minCalls,
    ...aboveShare,
  },
  unit: 'share',
  isReplayable: true,
  calls: ({ finished }, { from, to }) => finished.between(from, to),
  statuses: () => ['ended'],
  measure: (calls, { shorterThan }) => {
    const durations = calls.flatMap(({ duration }) => duration ?? [])
    const short = durations.filter((seconds) => seconds < shorterThan)
    return { value: short.length / durations.length, calls: durations.length }
  },
  describe: ({ value, calls = 0 }, signal) =>
    `${formatNumber(Math.round(value * calls))} of ${plural(calls, 'call')} that ended ${inWindow(signal)} lasted less than ${formatSeconds(signal.shorterThan)}: ${formatIn('share', value)}`,
  inWords: (rule) =>
    `${beyond(rule, 'share')} of the calls that ended ${inWindow(rule.signal)} lasted less than ${formatSeconds(rule.signal.shorterThan)} (at least ${plural(rule.signal.minCalls, 'call')})`,
})
