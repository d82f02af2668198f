import { TYPES } from '../../../src/ledger/call.ts'
import { eitherSide, labelled, windowed } from '../../../src/alerts/rule-keys.ts'
import { callSignal, formatIn, inWindow, numberOf } from '../../../src/alerts/signal.ts'
import { oneOf, ratio } from '../../../src/schema/scalars.ts'

/** A signal that callwatch does not have. */
export const typeShare = callSignal({
  name: 'type_share',
  description: 'Share of the calls finished in the window that are of a type, 0 to 1',
  keys: {
    of: oneOf(TYPES).describe('Of which type'),
    ...labelled,
    ...windowed,
    ...eitherSide(ratio),
  },
  unit: 'share',
  isReplayable: true,
  isShownInStatus: true,
  calls: ({ finished }, { from, to }) => finished.tally(from, to),
  measure: (calls, { of }) => {
    const ofType = numberOf(calls.filter(({ labels }) => labels.type === of))
    return { value: ofType / numberOf(calls), calls: numberOf(calls), counts: undefined }
  },
  describe: ({ value }, signal) =>
    `${formatIn('share', value)} of the calls that finished ${inWindow(signal)} are of type ${signal.of}`,
  inWords: (rule) => `${formatIn('share', rule.threshold)} of type ${rule.signal.of}`,
})
