import type { Notification } from '../../../alerts/notification.ts'
import { formatSeconds, formatTime } from '../../../text/format.ts'
import type { AlertUpdate } from '../../message.ts'
import {
  callsLookedAt,
  descriptionOf,
  splitOf,
  summaryOf,
  titleOf,
  resultOf,
  worstOf,
} from '../../text/notification-text.ts'
import { context, fields, section, type SlackBlock } from './slack-blocks.ts'
import type { Item } from './slack-listing.ts'
import { code, prose, sentence } from './slack-text.ts'
import { contributorOf, forecastOf, trendOf } from '../../text/evidence-text.ts'

/** Cuts (characters), so that no text of a configuration crowds the numbers out. */
const RESULT = 600
const NAME = 150
const VALUE = 200
const DESCRIPTION = { alone: 1500, inGroup: 500 }
/** A longer address makes no button beside one of several alerts: the others need the room. */
const GROUP_URL = 500

const FIRING_SIGNS = { critical: '🔴', warning: '🟠', info: '🔵' } as const
const SIGNS = { resolved: '✅', closed: '⚪' } as const

/** What one sees first: red fires, a tick has resolved, white is not known. */
export function signOf({ kind, severity }: Pick<Notification, 'kind' | 'severity'>): string {
  return kind === 'resolved' || kind === 'closed' ? SIGNS[kind] : FIRING_SIGNS[severity]
}

export function isFiring({ kind }: Pick<Notification, 'kind'>): boolean {
  return kind === 'firing' || kind === 'reminder'
}

/**
 * All that is known of an alert. One of several says its name and has its own button to the runbook.
 *
 * @param now the host's clock (UNIX seconds)
 */
export function alertBlocks(
  { notification, flaps }: AlertUpdate,
  { place, now }: { place: 'alone' | 'inGroup'; now: number },
): SlackBlock[] {
  const { runbookUrl } = notification
  const result = `*${sentence(resultOf(notification), RESULT)}*`
  // It says what is wrong, so it says nothing of an alert that ended.
  const description = isFiring(notification) ? prose(descriptionOf(notification) ?? '', DESCRIPTION[place]) : ''
  const url = runbookUrl !== undefined && runbookUrl.length <= GROUP_URL ? runbookUrl : undefined
  return [
    place === 'alone'
      ? section(result)
      : section(`${signOf(notification)} ${code(titleOf(notification), NAME)}\n${result}`, { name: 'Runbook', url }),
    ...fields(factsOf(notification, now).map(([name, value]) => [name, sentence(value, VALUE)])),
    ...(description === '' ? [] : [section(description)]),
    ...context(notesOf(notification, flaps)),
  ]
}

/** An alert in one line. */
export function alertItem({ notification, flaps }: AlertUpdate): Item {
  const name = code(titleOf(notification), NAME)
  const more = flaps > 0 ? ` (${flapsText(flaps)})` : ''
  return { line: `${signOf(notification)} ${name} ${sentence(summaryOf(notification), RESULT)}${more}`, name }
}

function factsOf(notification: Notification, now: number): [name: string, value: string][] {
  const facts: [name: string, value: string | undefined][] = [
    ...courseOf(notification, now),
    ['Outcomes', splitOf(notification)],
    ['Cause', isFiring(notification) ? notification.cause : undefined],
    ['Top contributor', isFiring(notification) ? contributorOf(notification) : undefined],
    ['Trend', trendOf(notification)],
    ['Forecast', forecastOf(notification)],
    ['Only calls with', callsLookedAt(notification) || undefined],
  ]
  return facts.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
}

/** Since when, and what became of it. */
function courseOf(notification: Notification, now: number): [name: string, value: string][] {
  const { kind, signal, since, firingSince, at } = notification
  // What waited before it was delivered has gone on meanwhile.
  const untilNow = (from: number) => `${formatTime(from)} (${formatSeconds(Math.max(at, now) - from)})`
  if (kind === 'reminder') return [['Firing since', untilNow(firingSince)]]
  // How old the last successful poll is says since when.
  if (kind === 'firing') {
    return signal.name === 'poll_age' ? [] : [['Since', untilNow(since)]]
  }
  const [worst, value] = worstOf(notification)
  return [
    ['Fired', formatTime(firingSince)],
    // How long a closed one lasted is not known.
    ...(kind === 'resolved' ? [['Lasted', formatSeconds(at - firingSince)] as [string, string]] : []),
    [capitalized(worst), value],
  ]
}

/** What a reader must know beside the numbers, to decide whether to act. */
function notesOf(notification: Notification, flaps: number): string[] {
  const { signal, closedBecause } = notification
  const notes: string[] = []
  if (flaps > 0) notes.push(flapsText(flaps))
  if (isFiring(notification) && signal.name === 'poll_age') {
    const why = notification.cause === undefined ? 'Why: see `problem` at /api/v1/status, or the log. ' : ''
    notes.push(`${why}Calls made meanwhile are counted when polls work again.`)
  }
  if (closedBecause === 'too few calls') notes.push('Too few calls finished since to know whether calls work again.')
  if (closedBecause === 'rule removed') {
    notes.push('The rule was removed from the configuration: it is evaluated no longer.')
  }
  if (closedBecause === 'rule changed') notes.push('The `by` or `match` of the rule changed: its alerts restart.')
  if (closedBecause === 'target reset') notes.push('The counts of the target were reset.')
  if (notification.asOf !== undefined) {
    notes.push(`The value is as of ${formatTime(notification.asOf)}: since then the calls could not be polled.`)
  }
  if (closedBecause === 'target removed') {
    notes.push('The target was removed from the configuration: it is polled no longer.')
  }
  return notes
}

function flapsText(times: number): string {
  return `fired and resolved ${times === 1 ? 'once more' : `${times} more times`} meanwhile`
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
