import type { Figures } from '../../history/sums.ts'
import { FINAL_STATUSES } from '../../ledger/call.ts'
import { failureCount, failureRatio } from '../../ledger/failure-ratio.ts'
import type { DayFigures, DigestMessage } from '../message.ts'
import { firstOf, nameIn, oneLine } from './bounded.ts'
import { formatNumber, formatSeconds, formatShare } from '../../text/format.ts'

/** How many targets a digest has at most, and the characters of their texts. */
const MOST = { targets: 20, name: 100, line: 250, split: 150 }

/** A message that reports numbers, as each receiver shows it. All texts are bounded. */
export type Bulletin = { title: string; parts: { name: string; lead: string; lines: string[] }[]; notes: string[] }

/** The targets, or those with most failed calls, with their day and its outcomes. */
export function digestBulletin({ day, timezone, targets }: DigestMessage): Bulletin {
  const failed = ({ day: { counts } }: (typeof targets)[number]) => failureCount(counts, 'any')
  const shown = targets.length > MOST.targets ? targets.toSorted((a, b) => failed(b) - failed(a)) : targets
  const { first, more } = firstOf(shown, MOST.targets)
  const parts = first.map((each) => ({
    name: oneLine(each.target, MOST.name),
    lead: oneLine(digestLine(each), MOST.line),
    lines: digestSplit(each.day).map((split) => oneLine(split, MOST.split)),
  }))
  const zone = oneLine(timezone, MOST.name) || 'UTC'
  const note = `The day in ${zone}; in brackets, the change from the same weekday a week before.`
  return { title: `Calls on ${nameIn(dayWithWeekday(day), MOST.name)}`, parts, notes: [...more, note] }
}

/** A target's day: `1,204 calls (+12%), 8,310 participant minutes (-3%), 4.2% failed (3.1% before)`. */
export function digestLine({ day, weekBefore }: DigestMessage['targets'][number]): string {
  const known = weekBefore === undefined ? '; no data a week before' : notCovered(' a week before', weekBefore)
  return `${figuresText(day, weekBefore)}${notCovered('', day)}${known}`
}

/** `1,204 calls (+12%), 8,310 participant minutes (-3%), 4.2% failed (3.1% before)`. */
export function figuresText(day: Figures, weekBefore?: Figures): string {
  const { total } = day.counts
  const calls = `${formatNumber(total)} ${total === 1 ? 'call' : 'calls'}${change(total, weekBefore?.counts.total)}`
  const minutes = `${formatNumber(day.minutes, 0)} participant minutes${change(day.minutes, weekBefore?.minutes)}`
  return [calls, minutes, ...failures(day, weekBefore)].join(', ')
}

function notCovered(when: string, { blindSeconds }: DayFigures): string {
  return blindSeconds === 0 ? '' : `; not covered${when}: ${formatSeconds(blindSeconds)}`
}

/** The outcomes of a day: `ended 1,153, unanswered 30, rejected 15, canceled 6`; none without calls. */
export function digestSplit({ counts }: Pick<Figures, 'counts'>): string[] {
  if (counts.total === 0) return []
  const shown = [...FINAL_STATUSES, ...(counts.other > 0 ? (['other'] as const) : [])]
  return [shown.map((status) => `${status} ${formatNumber(counts[status])}`).join(', ')]
}

/** `Thursday, 2026-11-19` */
export function dayWithWeekday(day: string): string {
  const date = new Date(`${day}T00:00:00Z`)
  if (Number.isNaN(date.getTime())) return day
  return `${date.toLocaleDateString('en-US', { weekday: 'long', timeZone: 'UTC' })}, ${day}`
}

function failures({ counts }: Figures, weekBefore: Figures | undefined): string[] {
  // Without calls there is no share, and the text has already said so.
  if (counts.total === 0) return []
  const before = weekBefore === undefined ? NaN : failureRatio(weekBefore.counts, 'any')
  const earlier = Number.isNaN(before) ? '' : ` (${formatShare(before)} before)`
  return [`${formatShare(failureRatio(counts, 'any'))} failed${earlier}`]
}

/** ` (+12%)`, or ` (0 before)`, since there is no percentage of 0. Empty if the value before is unknown. */
function change(now: number, before: number | undefined): string {
  if (before === undefined) return ''
  if (before === 0) return now === 0 ? ' (as before)' : ' (0 before)'
  const percent = formatNumber((now / before - 1) * 100, 0)
  return ` (${percent === '0' ? '±0' : percent.startsWith('-') ? percent : `+${percent}`}%)`
}
