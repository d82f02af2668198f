import { amount, positive, timezone } from '../../schema/scalars.ts'
import { formatNumber, formatShare } from '../../text/format.ts'
import { clear } from '../rule-keys.ts'
import { beyond, targetSignal } from '../signal.ts'

const DAY = 86_400

const share = () => amount('a share of the limit, 0 or more, such as 0.8')

export const budgetMinutes = targetSignal({
  name: 'budget_minutes',
  description: 'Participant minutes of this calendar month, as a share of the limit',
  keys: {
    limit: positive('a number of minutes above 0').describe('Monthly budget in participant minutes'),
    timezone: timezone().prefault('UTC').describe('Where the month begins and ends'),
    above: share().prefault(1).describe('A larger share of the limit is a breach; may exceed 1'),
    clear: clear(share()),
  },
  unit: 'share',
  isReplayable: false,
  value: (trigger, monthOf, { limit, timezone: zone }) =>
    trigger.kind === 'tick' ? undefined : trigger.usedSince(monthOf(trigger.now, zone).from) / limit,
  forecast: (value, { now, created }, monthOf, { timezone: zone }) => {
    const { from, to } = monthOf(now, zone)
    const counted = now - Math.max(from, created)
    // A few hours are not enough to forecast a month.
    return counted < DAY ? undefined : value + (value / counted) * (to - now)
  },
  describe: ({ value }, { limit }) => {
    const used = `${formatNumber(value * limit, 0)} of ${formatNumber(limit)}`
    return `${used} participant minutes of this month are used: ${formatShare(value)}`
  },
  inWords: (rule) =>
    `${beyond(rule, 'share')} of the ${formatNumber(rule.signal.limit)} participant minutes of a month used`,
  describeForecast: (forecast, { limit }) =>
    `at this rate ${formatNumber(forecast * limit, 0)} min, ${formatShare(forecast)} of the limit, by the end of the month`,
  format: (value, { limit }) =>
    `${formatShare(value)} (${formatNumber(value * limit, 0)} of ${formatNumber(limit)} min)`,
})
