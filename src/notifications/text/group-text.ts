import { subjectOf } from '../../alerts/alert.ts'
import { targetsOf } from '../../alerts/incidents.ts'
import { isMoreSevere } from '../../alerts/match-keys.ts'
import { hasEnded, type Notification } from '../../alerts/notification.ts'
import { isBeyond } from '../../alerts/signal.ts'
import { formatValue, titleOf, worstOf } from '../../alerts/text/alert-text.ts'
import {
  incidentLines,
  incidentSentence,
  NAMED,
  rulesText,
  runbookOfAll,
  sharedText,
} from '../../alerts/text/incident-text.ts'
import { clockOf, formatSeconds, formatTime, plural } from '../../text/format.ts'
import type { AlertMessage, AlertUpdate } from '../message.ts'
import { firstOf, nameIn } from './bounded.ts'

/** All alerts of a group, also those that did not change: what fires comes first. */
export function wholeGroup({ alerts, unchanged }: AlertMessage): AlertUpdate[] {
  const [firing, ended] = [false, true].map((isOver) => alerts.filter((each) => hasEnded(each.notification) === isOver))
  return [...firing!, ...unchanged, ...ended!]
}

/** A message about ends on one target, with what still fires there: alone, they would read as if all were over. */
export function withWhatFires(message: AlertMessage): AlertMessage {
  const isOver = message.target !== undefined && message.alerts.every(({ notification }) => hasEnded(notification))
  return isOver ? { ...message, alerts: wholeGroup(message), unchanged: [] } : message
}

/**
 * `VeryHighFailureRate still fires`, or that it is recovering: what else does on the targets on which nothing of the group fires any more; '' if
 * nothing does.
 */
export function elsewhereText({ elsewhere }: AlertMessage): string {
  const beyond = elsewhere.filter((one) => isBeyond(one, one.value, one.threshold))
  const shown = beyond.length > 0 ? beyond : elsewhere
  if (shown.length === 0) return ''
  const rules = [...new Set(shown.map(({ alert }) => alert))]
  const [one, several] = beyond.length > 0 ? ['still fires', 'still fire'] : ['is recovering', 'are recovering']
  return `${rulesText(rules)} ${rules.length === 1 ? one : several}`
}

/** `no longer sent here: HighFailureRate on 2 targets, which still fires`: other receivers are notified of it, by the routes of now. */
export function unroutedText({ alerts }: AlertMessage): string {
  const all = alerts.map(({ notification }) => notification)
  const names = [...new Set(all.map(titleOf))]
  const what = names.length === 1 ? names[0]! : plural(names.length, 'alert')
  const targets = targetsOf(all)
  const on = targets.size === 1 ? [...targets][0]! : plural(targets.size, 'target')
  return `no longer sent here: ${what} on ${on}, which still ${names.length === 1 ? 'fires' : 'fire'}`
}

/** The title of a message about several targets: the incident, or how it ends. */
export function groupTitle(message: AlertMessage): string {
  if (message.about === 'unrouted') return unroutedText(message)
  const { alerts, flapped, incident } = message
  const over = [...alerts.filter(({ notification }) => hasEnded(notification)), ...flapped]
  const subject = firstOf([...new Set(over.map(({ notification }) => titleOf(notification)))], NAMED)
  const names = [...subject.first, ...subject.more].join(', ')
  const fires = alerts.some(({ notification }) => !hasEnded(notification))
  const ends = incident !== undefined && fires ? [] : endsOf(message)
  const parts = [
    elsewhereText(message),
    incident && incidentSentence(incident),
    ends.length > 0 && [incident === undefined && names, ends.join(', ')].filter(Boolean).join(' '),
  ]
  // Nobody was told of the end of all alerts: they were silenced or muted.
  return parts.filter(Boolean).join('; ') || 'nothing of this fires any more'
}

/** `production improves: HighFailureRate still fires at 24.2%, was 98.3% at most`: the more severe alert on the same calls resolved. */
export function improvementOf({ target, alerts }: AlertMessage): string | undefined {
  const [one, other, ...others] = alerts.map(({ notification }) => notification)
  if (target === undefined || one === undefined || other?.kind !== 'resolved' || others.length > 0) return undefined
  if (hasEnded(one) || !isMoreSevere(other, one) || subjectOf(one) !== subjectOf(other)) return undefined
  const most = isBeyond(one, other.peak, one.peak) ? other.peak : one.peak
  const values = `${formatValue(one, one.value)}, was ${formatValue(one, most)} at ${one.breach === 'above' ? 'most' : 'least'}`
  return `${nameIn(target, 40)} improves: ${nameIn(titleOf(one), 40)} still fires at ${values}`
}

/**
 * `resolved on 30 targets`, for each way to end: only targets on which nothing of the group fires any more. At the end of an incident it is that of
 * all its targets, also of those whose end was notified before: `over on all 6 targets (6 of 6 *-eu-*, 0 of 12 others)`.
 */
function endsOf({ alerts, flapped, incident, whole }: AlertMessage): string[] {
  const firing = targetsOf(incident?.firing ?? [])
  const on = (changes: readonly Notification[]) => targetsOf(changes).difference(firing).size
  const all = alerts.map(({ notification }) => notification)
  const told = targetsOf(all)
  // The less severe alert of a target that is told of anyway is no news.
  const meanwhile = flapped.map(({ notification }) => notification).filter(({ target }) => !told.has(target))
  const counts = [
    ['resolved', on(all.filter(({ kind }) => kind === 'resolved'))],
    ['expired, not resolved,', on(all.filter(({ kind }) => kind === 'expired'))],
    ['fired and ended meanwhile', on(meanwhile)],
  ] as const
  if (whole !== undefined && all.every(({ kind }) => kind === 'resolved'))
    return [`over on all ${plural(whole.targets, 'target')}${sharedText(whole.shared)}`]
  return counts.flatMap(([what, targets]) => (targets === 0 ? [] : [`${what} on ${plural(targets, 'target')}`]))
}

/** What a message about several targets says below its title: the incident, what ended, and what is silenced. */
export function groupLines(message: AlertMessage): string[] {
  const { alerts, incident, whole } = message
  const firing = targetsOf(incident?.firing ?? [])
  const ended = alerts
    .map(({ notification }) => notification)
    .filter(({ kind, target }) => kind === 'resolved' && !firing.has(target))
  const lasted = ({ at, firingSince }: Notification) => at - firingSince
  const [longest] = ended.toSorted((one, other) => lasted(other) - lasted(one))
  const ends = endsOf(message)
  return [
    ...(incident === undefined ? [] : incidentLines(incident).map(({ text }) => text)),
    incident !== undefined && ends.length > 0 && `Ended: ${ends.join(', ')}`,
    whole !== undefined &&
      `Fired from ${formatTime(whole.since)} to ${clockOf(whole.until, whole.since)}, for ${formatSeconds(whole.until - whole.since)}`,
    longest !== undefined &&
      `Longest: ${longest.target} ${formatSeconds(lasted(longest))}, ${worstOf(longest).join(' ')}`,
    ...silencedText(message),
  ].filter((line) => line !== false)
}

/** `Silenced: HighFailureRate on shop-1 until 2026-11-20 10:00:00 UTC by ann (deploy); 12 alerts until …`: the same silence of several once. */
export function silencedText({ silenced, target: own }: Pick<AlertMessage, 'silenced' | 'target'>): string[] {
  const bySilence = Map.groupBy(silenced, ({ until, author, reason }) => JSON.stringify([until, author, reason]))
  const { first, more } = firstOf([...bySilence.values()], NAMED)
  const texts = first.map((same) => {
    const { alert, target, until, author, reason } = same[0]!
    const on = target === own ? '' : ` on ${nameIn(target, 40)}`
    const what = same.length === 1 ? `${nameIn(alert, 100)}${on}` : plural(same.length, 'alert')
    const why = nameIn(reason, 60)
    const by = author === undefined ? '' : ` by ${nameIn(author, 40)}`
    return `${what} until ${formatTime(until)}${by}${why === '' ? '' : ` (${why})`}`
  })
  return texts.length === 0 ? [] : [`Silenced: ${[...texts, ...more].join('; ')}`]
}

/** The runbook of the incident or, where nothing fires or the message is only on what was over, of the most severe alert that has one. */
export function runbookOfGroup({ alerts, flapped, incident, links }: AlertMessage): string | undefined {
  const over = [...alerts, ...flapped].map(({ notification }) => notification)
  const runbooks = links && `${links.overview}runbooks`
  return runbookOfAll(flapped.length > alerts.length ? over : (incident?.alerts ?? over), runbooks)
}
