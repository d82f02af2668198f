import { hasEnded, type Notification } from '../../alerts/notification.ts'
import { formatNumber, formatSeconds, formatTime, plural } from '../../text/format.ts'
import type { AlertMessage } from '../message.ts'
import { isFiring } from './alert-facts.ts'
import { formatValue, resultOf, ruleText, titleOf, worstOf } from './notification-text.ts'

/** A text about what several targets have in common needs at least this many of them, and more than half. */
const MIN_IN_COMMON = 3

/**
 * The title of a message about several targets: `VeryHighFailureRate fires on 199 of 300 targets`, `… resolved on 30 targets, still fires on 12`.
 *
 * @param name shows the name of the alerts
 */
export function groupTitle(
  { alerts, flapped, silenced, firing }: AlertMessage,
  name = (title: string): string => title,
): string {
  const titles = [...new Set([...alerts, ...flapped].map(({ notification }) => titleOf(notification)))]
  const subject = titles.length === 1 ? name(titles[0]!) : plural(titles.length || silenced.length, 'alert')
  const verb = (singular: string, more: string) => (titles.length === 1 ? singular : more)
  const targetsOf = (kind: (notification: Notification) => boolean) =>
    new Set(alerts.flatMap(({ notification }) => (kind(notification) ? notification.target : []))).size
  const [resolved, expired] = [
    targetsOf(({ kind }) => kind === 'resolved'),
    targetsOf(({ kind }) => kind === 'expired'),
  ]
  const isNew = alerts.some(({ notification }) => isFiring(notification))
  const over =
    flapped.length === 0 || alerts.length > 0 ? 0 : new Set(flapped.map((each) => each.notification.target)).size
  const parts = [
    ...(isNew ? [`${verb('fires', 'fire')} on ${firing.targets} of ${plural(firing.of, 'target')}`] : []),
    ...(resolved > 0 ? [`resolved on ${plural(resolved, 'target')}`] : []),
    ...(expired > 0 ? [`expired, not resolved, on ${plural(expired, 'target')}`] : []),
    ...(over > 0 ? [`fired and resolved on ${plural(over, 'target')}`] : []),
    ...(!isNew && firing.targets > 0 ? [`still ${verb('fires', 'fire')} on ${firing.targets}`] : []),
  ]
  return `${subject} ${parts.join(', ')}`
}

/** The worst target, since when and by which rule the alerts fire, what the targets have in common, and how long the alerts lasted that have ended. */
export function groupLines({ alerts }: AlertMessage): string[] {
  const all = alerts.map(({ notification }) => notification)
  const [worst] = all.filter(isFiring)
  const ended = all.filter(hasEnded)
  const longest = Math.max(...ended.map(({ at, firingSince }) => at - firingSince))
  const [worstEnded] = ended
  const firing = all.filter(isFiring)
  const common = inCommon(firing)
  const isOneRule = new Set(firing.map(({ alert }) => alert)).size === 1
  return [
    ...(worst === undefined
      ? []
      : [
          `Worst: ${worst.target}, ${resultOf(worst)}`,
          `First since ${formatTime(Math.min(...firing.map(({ firingSince }) => firingSince)))}`,
        ]),
    ...(worst !== undefined && isOneRule ? [`Rule: ${ruleText(worst)}`] : []),
    ...(common === undefined ? [] : [common]),
    ...(worstEnded === undefined
      ? []
      : [
          `Lasted ${formatSeconds(longest)} at most, ${worstOf(worstEnded)[0]} ${peakOf(worstEnded)} on ${worstEnded.target}`,
        ]),
  ]
}

/** `worst shop-01 73.4% of 41 calls`: what fits into a subject after {@link groupTitle}. */
export function worstTarget({ alerts }: AlertMessage): string {
  const all = alerts.map(({ notification }) => notification)
  const worst = all.find(isFiring) ?? all[0]
  if (worst === undefined) return ''
  const value = isFiring(worst) ? formatValue(worst, worst.value) : peakOf(worst)
  return `worst ${worst.target} ${value}${worst.calls === undefined ? '' : ` of ${plural(worst.calls, 'call')}`}`
}

/** The runbook that all alerts of a group share. */
export function runbookOf({ alerts }: AlertMessage): string | undefined {
  const runbooks = new Set(alerts.map(({ notification }) => notification.runbookUrl))
  return runbooks.size === 1 ? [...runbooks][0] : undefined
}

/** Where an alert of a group fires. Its name is left out if all alerts of the group have the same name. */
export function placeOf({ group }: AlertMessage, notification: Notification): string {
  return group.alert === undefined || Object.keys(notification.labels).length > 0
    ? `${titleOf(notification)} on ${notification.target}`
    : notification.target
}

function peakOf(notification: Notification): string {
  return formatValue(notification, notification.peak)
}

/** The top contributor that most of the alerts share. */
function inCommon(firing: readonly Notification[]): string | undefined {
  const contributors = firing.flatMap(({ contributor }) => contributor ?? [])
  const by = Map.groupBy(contributors, ({ label, value }) => `${label} ${value}`)
  const [name, most] = [...by].toSorted(([, one], [, other]) => other.length - one.length)[0] ?? ['', []]
  if (most.length < MIN_IN_COMMON || most.length * 2 <= firing.length) return undefined
  return `In common: ${name} is the top contributor on ${formatNumber(most.length)} of ${plural(firing.length, 'target')}`
}
