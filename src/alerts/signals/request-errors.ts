import { duration } from '../../schema/duration.ts'
import { wholeNumber } from '../../schema/scalars.ts'
import { aboveShare } from '../rule-keys.ts'
import { beyond, formatIn, inWindow, targetSignal } from '../signal.ts'
import { KEPT_SECONDS, wrongShare } from '../trigger.ts'

export const requestErrors = targetSignal({
  name: 'request_errors',
  description: 'Share of the requests in the window that the calls service failed to answer',
  keys: {
    window: duration({ min: 60, max: KEPT_SECONDS }).prefault('15m').describe('How far back requests count'),
    min_requests: wholeNumber(1, 1_000_000).prefault(20).describe('Minimum number of requests in the window'),
    ...aboveShare,
  },
  unit: 'share',
  value: (trigger, { window, minRequests }) => wrongShare(trigger, minRequests, window),
  describe: ({ value }, signal) =>
    `${formatIn('share', value)} of the requests to the calls service failed ${inWindow(signal)}`,
  inWords: (rule) => `${beyond(rule, 'share')} of the requests to the calls service ${inWindow(rule.signal)} failed`,
})
