import { failureCount, failureRatio } from '../../ledger/failure-ratio.ts'
import { formatNumber, formatSeconds, formatShare, plural } from '../../text/format.ts'
import type { PastMessage } from '../message.ts'
import { firstOf, nameIn, oneLine } from './bounded.ts'
import { digestSplit, figuresText, type Bulletin } from './digest-text.ts'

/** How many rules are named at most, and the characters of their texts. */
const MOST = { rules: 10, name: 60, line: 250 }

/** What happened before some targets were set up, and what raises alerts from now on. */
export function pastBulletin(message: PastMessage): Bulletin {
  const { targets, from, to, worstHour, open, rules } = message
  const name = targets.length === 1 ? nameIn(targets[0]!, MOST.name) : plural(targets.length, 'target')
  const details = [
    ...digestSplit(message),
    ...(worstHour === undefined ? [] : [worstText(worstHour, message.timezone)]),
    ...(open.calls === 0 ? [] : [openText(open)]),
  ]
  const { first, more } = firstOf(rules, MOST.rules)
  const watched = first.map((rule) => oneLine(rule, MOST.line))
  const past = { name: `the last ${Math.round((to - from) / 3600)}h`, lead: oneLine(figuresText(message), MOST.line) }
  return {
    title: `callwatch watches ${name}`,
    parts: [
      { ...past, lines: details.map((detail) => oneLine(detail, MOST.line)) },
      { name: 'from now on', lead: `alerts by ${plural(rules.length, 'rule')}`, lines: [...watched, ...more] },
    ],
    notes: [
      'An alert needs a call that ends after the set-up, and these calls have no event. callwatch says this once.',
    ],
  }
}

/** `callwatch watches production: the last 24h: 1,204 calls, …`, in one line. */
export function pastSummary(message: PastMessage): string {
  const { title, parts } = pastBulletin(message)
  const { name, lead, lines } = parts[0]!
  return `${title}: ${name}: ${[lead, ...lines].join('; ')}`
}

function worstText({ from, counts }: NonNullable<PastMessage['worstHour']>, timeZone: string): string {
  const time = new Intl.DateTimeFormat('en-GB', { timeZone, weekday: 'short', hour: '2-digit', minute: '2-digit' })
  const failed = `${formatNumber(failureCount(counts, 'any'))} of ${plural(counts.total, 'call')} failed`
  const share = formatShare(failureRatio(counts, 'any'))
  return `Worst hour, from ${time.format(from * 1000)} (${timeZone}): ${failed}, ${share}`
}

function openText({ longerThan, calls, oldest }: PastMessage['open']): string {
  return `Open for longer than ${formatSeconds(longerThan)}: ${plural(calls, 'call')}, the oldest for ${formatSeconds(oldest)}`
}
