import { duration } from '../../schema/duration.ts'
import { shareOrDifference } from '../../schema/scalars.ts'
import { formatNumber, formatSeconds, plural } from '../../text/format.ts'
import { clear, labelled, minCalls, windowed } from '../rule-keys.ts'
import { beyond, callSignal, formatIn, inWindow, numberOf } from '../signal.ts'

export const recorded = callSignal({
  name: 'recorded',
  description: 'Share of the calls ended in the window that have a recording',
  keys: {
    ...labelled,
    ...windowed,
    offset: duration({ min: 0 }).prefault('30m').describe('How long before now the window ends'),
    ...minCalls,
    below: shareOrDifference().describe('A smaller share is a breach'),
    clear: clear(shareOrDifference()),
  },
  unit: 'share',
  // It cannot be replayed: the history has which calls have a recording, but not since when.
  calls: ({ finished }, { from, to }, { offset }) => finished.tally(from - offset, to - offset),
  statuses: () => ['ended'],
  selects: { has_recording: 'false' },
  measure: (calls) => {
    const ended = calls.filter(({ status }) => status === 'ended')
    const all = numberOf(ended)
    return { value: numberOf(ended.filter(({ isRecorded }) => isRecorded)) / all, calls: all }
  },
  describe: ({ value, calls = 0 }, signal) =>
    `${formatNumber(Math.round(value * calls))} of ${plural(calls, 'call')} that ended ${inPast(signal)} had a recording: ${formatIn('share', value)}`,
  inWords: (rule) =>
    `${beyond(rule, 'share')} of the calls that ended ${inPast(rule.signal)} had a recording (at least ${plural(rule.signal.minCalls, 'call')})`,
})

/** `in the 1h before the last 30m`. */
function inPast(signal: { readonly window: number; readonly offset: number }): string {
  const { window, offset } = signal
  return offset === 0 ? inWindow(signal) : `in the ${formatSeconds(window)} before the last ${formatSeconds(offset)}`
}
