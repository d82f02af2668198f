import { failuresOf, hasEnded, type Notification } from '../../alerts/notification.ts'
import type { Alert } from '../../alerts/alert.ts'
import type { Incident } from '../../alerts/incidents.ts'
import { failText, formatNumber, formatSeconds, formatShare, formatTime, plural } from '../../text/format.ts'
import type { AlertMessage, AlertUpdate } from '../message.ts'
import { formatValue, ruleText, titleOf, worstOf } from './notification-text.ts'

/** All alerts of a group, also those that did not change: what fires comes first. */
export function wholeGroup({ alerts, unchanged }: AlertMessage): AlertUpdate[] {
  const [firing, ended] = [false, true].map((isOver) => alerts.filter((each) => hasEnded(each.notification) === isOver))
  return [...firing!, ...unchanged, ...ended!]
}

/** How many of the worst alerts, and of what else fires, a text names. */
const NAMED = 3

/** `295 of 300 targets: 84% of 4,120 calls fail, mostly unanswered`; a target alone by its name, what is no share of calls by its rule. */
export function incidentSentence({ targets, alerts, calls }: Incident): string {
  const [first] = alerts
  const on = targets.firing === 1 ? first!.target : `${formatNumber(targets.firing)} of ${plural(targets.of, 'target')}`
  if (calls === undefined) return `${on}: ${ruleText(first!)}`
  const { reason } = { reason: undefined, ...first!.signal }
  return `${on}: ${failText(calls, reason)}`
}

/** What else is known of an incident, a line each; numbers instead of lists of names. */
export function incidentLines(incident: Incident): string[] {
  const { since, course, targets, alerts, worst, calls, contributor, causes, others } = incident
  const before = calls?.before === undefined ? '' : `; was ${formatShare(calls.before)}`
  const more = targets.pending > 0 ? `; pending on ${formatNumber(targets.pending)} more` : ''
  const ending =
    course === 'ends' ? `; the value is back within the threshold${targets.firing > 1 ? ' on most targets' : ''}` : ''
  return [
    `Since ${formatTime(since)}${before}${more}${ending}`,
    ...causes.flatMap((cause) => causeLine(cause, alerts[0]!.signal.name)),
    ...(worst.length === 0 || alerts.length === 1 ? [] : [`Worst: ${worst.slice(0, NAMED).map(worstText).join(', ')}`]),
    ...(contributor === undefined ? [] : [`Mostly: ${contributor.label} ${contributor.value}`]),
    ...(others.length === 0 ? [] : [`Also firing: ${othersText(others)}`]),
    ...[...new Map(alerts.map((alert) => [alert.alert, alert])).values()]
      .slice(0, NAMED)
      .map((alert) => `${titleOf({ ...alert, labels: {} })}: ${ruleText(alert)}`),
  ]
}

/** An incident is not the cause of itself: then only the reason is said. */
function causeLine({ signal, targets, cause }: Incident['causes'][number], own: string): string[] {
  if (signal === own) return cause === undefined ? [] : [`Cause: ${cause}`]
  const what = signal === 'poll_age' ? 'no successful poll' : 'failed requests to the calls service'
  return [`Cause: ${what} on ${plural(targets, 'target')}${cause === undefined ? '' : ` (${cause})`}`]
}

function othersText(others: Incident['others']): string {
  const named = others.slice(0, NAMED).map(({ alert, targets }) => `${alert} on ${plural(targets, 'target')}`)
  const rest = others.length - named.length
  return [...named, ...(rest > 0 ? [plural(rest, 'more rule')] : [])].join(', ')
}

/** `shop-01 75% of 40 calls`. */
function worstText(alert: Alert): string {
  const { target, value, calls } = alert
  const where = `${target}${titleOf({ ...alert, alert: '' })}`
  const ofCalls = calls === undefined || failuresOf(alert) === undefined ? '' : ` of ${plural(calls, 'call')}`
  return `${where} ${formatValue(alert, value)}${ofCalls}`
}

/** The end of all alerts that nobody was told of: they were silenced or muted. */
const NOT_SAID = 'nothing of this fires any more'

/** The title of a message about several targets: the incident, or how it ends. */
export function groupTitle(message: AlertMessage): string {
  const { alerts, flapped, incident } = message
  const over = [...alerts.filter(({ notification }) => hasEnded(notification)), ...flapped]
  const titles = [...new Set(over.map(({ notification }) => titleOf(notification)))]
  const subject = titles.length === 1 ? titles[0]! : plural(titles.length, 'alert')
  const fires = alerts.some(({ notification }) => !hasEnded(notification))
  if (incident !== undefined && fires) return incidentSentence(incident)
  const ends = endsOf(message)
  const title = ends.length === 0 ? NOT_SAID : `${subject} ${ends.join(', ')}`
  return incident === undefined ? title : `${incidentSentence(incident)}; ${title}`
}

/** `resolved on 30 targets`, for each way to end. */
function endsOf({ alerts, flapped }: AlertMessage): string[] {
  const on = (changes: readonly Notification[]) => new Set(changes.map(({ target }) => target)).size
  const all = alerts.map(({ notification }) => notification)
  const told = new Set(all.map(({ target }) => target))
  // The less severe alert of a target that is told of anyway is no news.
  const meanwhile = flapped.map(({ notification }) => notification).filter(({ target }) => !told.has(target))
  const counts = [
    ['resolved', on(all.filter(({ kind }) => kind === 'resolved'))],
    ['expired, not resolved,', on(all.filter(({ kind }) => kind === 'expired'))],
    ['fired and ended meanwhile', on(meanwhile)],
  ] as const
  return counts.flatMap(([what, targets]) => (targets === 0 ? [] : [`${what} on ${plural(targets, 'target')}`]))
}

/** What a message about several targets says below its title: the incident, what ended, and what is silenced. */
export function groupLines(message: AlertMessage): string[] {
  const { alerts, silenced, incident } = message
  const ended = alerts.map(({ notification }) => notification).filter(({ kind }) => kind === 'resolved')
  const [worst] = ended
  const longest = Math.max(...ended.map(({ at, firingSince }) => at - firingSince))
  const ends = endsOf(message)
  return [
    ...(incident === undefined ? [] : incidentLines(incident)),
    ...(incident === undefined || ends.length === 0 ? [] : [`Ended: ${ends.join(', ')}`]),
    ...(worst === undefined
      ? []
      : [`Longest: ${formatSeconds(longest)}, ${worstOf(worst).join(' ')} on ${worst.target}`]),
    ...(silenced.length === 0 ? [] : [silencedText(silenced)]),
  ]
}

/** `Silenced: 12 alerts until 2026-11-20 10:00:00 UTC by ann`. */
function silencedText(silenced: AlertMessage['silenced']): string {
  const authors = [...new Set(silenced.flatMap(({ author }) => author ?? []))]
  const by = authors.length === 0 ? '' : ` by ${authors.slice(0, NAMED).join(', ')}`
  const until = Math.max(...silenced.map((each) => each.until))
  return `Silenced: ${plural(silenced.length, 'alert')} until ${formatTime(until)}${by}`
}

/** The runbook that all alerts of a group share. */
export function runbookOf({ alerts, incident }: AlertMessage): string | undefined {
  const all = [
    ...alerts.map(({ notification }) => notification.runbookUrl),
    ...(incident?.alerts ?? []).map(({ runbookUrl }) => runbookUrl),
  ]
  const runbooks = new Set(all.filter((url) => url !== undefined))
  return runbooks.size === 1 ? [...runbooks][0] : undefined
}
