import { monthOf } from '../../clock/calendar.ts'
import { USAGE_FORMULAS, type UsageFormula } from '../../ledger/usage.ts'
import { amount, oneOf, positive, timezone, wholeNumber } from '../../schema/scalars.ts'
import { formatNumber, formatShare } from '../../text/format.ts'
import { clear } from '../rule-keys.ts'
import { beyond, targetSignal } from '../signal.ts'

const DAY = 86_400

const share = () => amount('a share of the limit, 0 or more, such as 0.8')

export const budgetMinutes = targetSignal({
  name: 'budget_minutes',
  description: 'Minutes of this month, as a share of the limit',
  keys: {
    limit: positive('a number of minutes above 0').describe('Monthly budget in minutes'),
    of: oneOf(USAGE_FORMULAS).prefault('participants').describe('Participant minutes, or user minutes'),
    timezone: timezone().prefault('UTC').describe('Where the month begins and ends'),
    cycle_day: wholeNumber(1, 28).prefault(1).describe('The day on which a month begins'),
    above: share().prefault(1).describe('A larger share of the limit is a breach'),
    clear: clear(share()),
  },
  unit: 'share',
  value: (trigger, { limit, of, ...cycle }) => {
    const used = trigger.kind === 'tick' ? NaN : trigger.usedSince(cycleOf(trigger.now, cycle).from, of)
    return Number.isNaN(used) ? undefined : used / limit
  },
  // Minutes of calls before the set-up were no surprise of now. To the quarter of an hour.
  mayBreach: ({ created, usedSince }) => USAGE_FORMULAS.some((of) => usedSince(created, of) > 0),
  forecast: (value, { now, knownFrom }, cycle) => {
    const { from, to } = cycleOf(now, cycle)
    const counted = now - Math.max(from, knownFrom)
    // A few hours are not enough to forecast a month.
    return counted < DAY ? undefined : value + (value / counted) * (to - now)
  },
  otherMinutes: ({ now, usedSince }, { of, ...cycle }) =>
    usedSince(cycleOf(now, cycle).from, of === 'duration' ? 'participants' : 'duration'),
  describe: ({ value, otherMinutes }, { limit, of }) => {
    const used = `${formatNumber(value * limit, 0)} of ${formatNumber(limit)} ${nameOf(of)} of this month are used`
    const formula = of === 'duration' ? 'the sum over participants' : 'duration × who joined'
    const other = otherMinutes === undefined ? '' : `, ${formatNumber(otherMinutes, 0)} as ${formula}`
    return `${used}${other}: ${formatShare(value)}`
  },
  inWords: ({ signal: { limit, of }, ...rule }) =>
    `${beyond(rule, 'share')} of the ${formatNumber(limit)} ${nameOf(of)} of a month used`,
  describeForecast: (forecast, { limit }) =>
    `at this rate ${formatNumber(forecast * limit, 0)} min, ${formatShare(forecast)} of the limit, by the end of the month`,
  format: (value, { limit }) =>
    `${formatShare(value)} (${formatNumber(value * limit, 0)} of ${formatNumber(limit)} min)`,
})

const cycleOf = (now: number, { timezone, cycleDay }: { timezone: string; cycleDay: number }) =>
  monthOf(now, timezone, cycleDay)

/** A rule that an earlier program stored has no formula, and is about participant minutes. */
function nameOf(of: UsageFormula): string {
  return of === 'duration' ? 'user minutes' : 'participant minutes'
}
