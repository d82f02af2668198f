import { duration } from '../../schema/duration.ts'
import { wholeNumber } from '../../schema/scalars.ts'
import { aboveShare } from '../rule-keys.ts'
import { beyond, formatIn, inWindow, targetSignal } from '../signal.ts'
import { KEPT_SECONDS, wrongShare } from '../trigger.ts'

export const serviceWebhooksMissed = targetSignal({
  name: 'service_webhooks_missed',
  description: 'Share of the ends of calls in the window that no webhook of the calls service announced, 0 to 1',
  keys: {
    window: duration({ min: 60, max: KEPT_SECONDS }).prefault('30m').describe('How far back ends of calls count'),
    min_ends: wholeNumber(1, 1_000_000)
      .prefault(20)
      .describe('With fewer ends in the window there is no result, and after a further window a firing alert expires'),
    ...aboveShare,
  },
  unit: 'share',
  value: (trigger, { window, minEnds }) => wrongShare(trigger, minEnds, (recent) => recent.ends?.(window)),
  describe: ({ value }, signal) =>
    `${formatIn('share', value)} of the ends of calls ${inWindow(signal)} had no webhook`,
  inWords: (rule) => `${beyond(rule, 'share')} of the ends of calls ${inWindow(rule.signal)} had no webhook`,
})
