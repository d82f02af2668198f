import { FINAL_STATUSES } from '../../ledger/call.ts'
import { amount, oneOf } from '../../schema/scalars.ts'
import { someCalls } from '../../text/format.ts'
import { eitherSide, labelled, windowed } from '../rule-keys.ts'
import { beyond, callSignal, formatIn, inWindow, sum } from '../signal.ts'

export const minutes = callSignal({
  name: 'minutes',
  description: 'Call minutes of the calls that finished in the window',
  keys: {
    media: oneOf(['audio', 'video', 'both']).prefault('both').describe('Which minutes count'),
    ...labelled,
    ...windowed,
    ...eitherSide(amount),
  },
  unit: 'minutes',
  isReplayable: true,
  calls: ({ finished }, { from, to }) => finished.between(from, to),
  statuses: () => [...FINAL_STATUSES, 'other'],
  measure: (calls, { media }) => {
    const minutesOf = calls.map(({ audio, video }) => ({ audio, video, both: audio + video })[media])
    return { value: sum(minutesOf), calls: calls.length }
  },
  describe: ({ value, calls = 0 }, signal) => {
    const is = `${formatIn('minutes', value)} of ${signal.media === 'both' ? 'audio and video' : signal.media}`
    if (calls === 0) return `no call finished ${inWindow(signal)}: ${is}`
    return `${someCalls(calls)} that finished ${inWindow(signal)} had ${is}`
  },
  inWords: (rule) =>
    `calls that finished ${inWindow(rule.signal)} had ${beyond(rule, 'minutes')}${rule.signal.media === 'both' ? '' : ` of ${rule.signal.media}`}`,
})
