import { LONG_OPEN_SECONDS } from '../../history/past.ts'
import { failureCount, failureRatio } from '../../ledger/failure-ratio.ts'
import { formatNumber, formatSeconds, formatShare, plural } from '../../text/format.ts'
import type { PastMessage } from '../message.ts'
import { firstOf, nameIn, oneLine } from './bounded.ts'
import { digestSplit, figuresText } from './digest-text.ts'

/** How many rules are named at most, and the characters of their texts. */
const MOST = { rules: 10, name: 60, rule: 190, line: 250 }

/** What happened before some targets were set up, and what raises alerts from now on. */
export function pastParts(message: PastMessage) {
  const { targets, from, to, counts, worstHour, open, rules } = message
  const which = targets.length === 1 ? nameIn(targets[0]!, MOST.name) : plural(targets.length, 'target')
  const { first, more } = firstOf(rules, MOST.rules)
  return {
    title: `callwatch watches ${which}`,
    line: oneLine(`The last ${Math.round((to - from) / 3600)}h: ${figuresText(message)}`, MOST.line),
    details: [
      ...[digestSplit({ counts }) ?? []].flat(),
      ...(worstHour === undefined ? [] : [worstText(worstHour, message.timezone)]),
      ...(open.calls === 0 ? [] : [openText(open)]),
    ].map((detail) => oneLine(detail, MOST.line)),
    rules: [...first.map(({ alert, when }) => `${oneLine(alert, MOST.name)}: ${oneLine(when, MOST.rule)}`), ...more],
    note: 'These calls raise no alert, and have no event. callwatch says this once.',
  }
}

function worstText({ from, counts }: NonNullable<PastMessage['worstHour']>, timeZone: string): string {
  const time = new Intl.DateTimeFormat('en-GB', { timeZone, weekday: 'short', hour: '2-digit', minute: '2-digit' })
  const failed = `${formatNumber(failureCount(counts, 'any'))} of ${plural(counts.total, 'call')} failed`
  const share = formatShare(failureRatio(counts, 'any'))
  return `The hour with most failed calls, from ${time.format(from * 1000)} (${timeZone}): ${failed}, ${share}`
}

function openText({ calls, oldest }: PastMessage['open']): string {
  const are = `${plural(calls, 'call')} ${calls === 1 ? 'has' : 'have'}`
  return `${are} been open for longer than ${formatSeconds(LONG_OPEN_SECONDS)}, ${calls === 1 ? '' : 'one of them '}for ${formatSeconds(oldest)}`
}
