import type { Notification } from '../../alerts/notification.ts'
import { formatSeconds, formatTime } from '../../text/format.ts'
import { contributorOf, forecastOf, trendOf } from './evidence-text.ts'
import { callsLookedAt, ruleText, splitOf, worstOf } from './notification-text.ts'

export function isFiring({ kind }: Pick<Notification, 'kind'>): boolean {
  return kind === 'firing' || kind === 'reminder'
}

/**
 * What is known of an alert besides its result, as names and values.
 *
 * @param now the host's clock (UNIX seconds)
 */
export function factsOf(notification: Notification, now: number): [name: string, value: string][] {
  const facts: [name: string, value: string | undefined][] = [
    ...courseOf(notification, now),
    ['Outcomes', splitOf(notification)],
    ['Last good poll', notification.lastPoll === undefined ? undefined : formatTime(notification.lastPoll)],
    ['Rule', isFiring(notification) ? ruleText(notification) : undefined],
    ['Cause', isFiring(notification) ? notification.cause : undefined],
    ['Top contributor', isFiring(notification) ? contributorOf(notification) : undefined],
    ['Trend', trendOf(notification)],
    ['Forecast', forecastOf(notification)],
    ['Only calls with', callsLookedAt(notification) || undefined],
  ]
  return facts.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
}

/** Since when it fires, and what happened since. */
function courseOf(notification: Notification, now: number): [name: string, value: string][] {
  const { kind, since, firingSince, at } = notification
  // While the notification waited, the alert may have continued.
  const untilNow = (from: number) => `${formatTime(from)} (${formatSeconds(Math.max(at, now) - from)})`
  if (kind === 'reminder') return [['Firing since', untilNow(firingSince)]]
  if (kind === 'firing') return [['Since', untilNow(since)]]
  const [worst, value] = worstOf(notification)
  return [
    ['Fired', formatTime(firingSince)],
    // Nobody knows how long an expired alert lasted.
    ...(kind === 'resolved' ? [['Lasted', formatSeconds(at - firingSince)] as [string, string]] : []),
    [capitalized(worst), value],
  ]
}

/** What a reader must know besides the numbers to decide whether to act. */
export function notesOf(notification: Notification, flaps: number): string[] {
  const { signal, expiredBecause } = notification
  const notes: string[] = []
  if (flaps > 0) notes.push(flapsText(flaps))
  if (isFiring(notification) && signal.name === 'poll_age') {
    const why = notification.cause === undefined ? 'Why: see `problem` at /api/v1/status, or the log. ' : ''
    notes.push(`${why}Calls made meanwhile are counted when polls work again.`)
  }
  if (expiredBecause === 'too few calls') notes.push('Too few calls finished since to know whether calls work again.')
  if (expiredBecause === 'rule removed') {
    notes.push('The rule was removed from the configuration: it is evaluated no longer.')
  }
  if (expiredBecause === 'rule changed') notes.push('The `by` or `match` of the rule changed: its alerts restart.')
  if (expiredBecause === 'target reset') notes.push('The counts of the target were reset.')
  if (notification.asOf !== undefined) {
    notes.push(`The value is as of ${formatTime(notification.asOf)}: since then the calls could not be polled.`)
  }
  if (expiredBecause === 'target removed') {
    notes.push('The target was removed from the configuration: it is polled no longer.')
  }
  return notes
}

export function flapsText(times: number): string {
  return `fired and resolved ${times === 1 ? 'once more' : `${times} more times`} meanwhile`
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
