import { isDeepStrictEqual } from 'node:util'
import type { LiveAlert } from '../../alerts/alert-instance.ts'
import { matches, SEVERITIES } from '../../alerts/match.ts'
import type { Notification } from '../../alerts/notification.ts'
import type { NotifyConfig } from '../notify-section.ts'

/** While an alert fires that `sourceMatch` matches, those that `targetMatch` matches and that have equal labels wait. */
export type Inhibition = NotifyConfig['inhibit'][number]

/** What inhibition needs to know of an alert. */
export type Inhibited = Pick<Notification, 'target' | 'key' | 'alert' | 'severity' | 'labels' | 'match' | 'signal'>

/**
 * The alerts that inhibit another one while they fire: those of the same target, signal and labels with a higher severity,
 * and those that a rule of the configuration names. None inhibits itself, and of two that would inhibit each other by
 * the same rule none does.
 */
export function inhibitorsAmong(
  alerts: readonly LiveAlert[],
  rules: readonly Inhibition[],
): (alert: Inhibited) => Inhibited[] {
  const sources = alerts.filter(({ instance }) => instance.state !== 'pending').map(inhibitedOf)
  return (alert) =>
    sources.filter(
      (source) =>
        !isSame(source, alert) && (isWorse(source, alert) || rules.some((rule) => isInhibiting(rule, source, alert))),
    )
}

/** A live alert, as inhibition sees it. */
export function inhibitedOf({ target, instance: { key, labels, rule } }: LiveAlert): Inhibited {
  const { name: alert, severity, match, signal } = rule
  return { target, key, alert, severity, labels, match, signal }
}

function isSame(one: Inhibited, other: Inhibited): boolean {
  return one.target === other.target && one.key === other.key
}

/** Whether it says the same of the same calls, only worse: its threshold and window are other ones. */
function isWorse(one: Inhibited, other: Inhibited): boolean {
  const isMoreSevere = SEVERITIES.indexOf(one.severity) < SEVERITIES.indexOf(other.severity)
  return isMoreSevere && one.target === other.target && isDeepStrictEqual(subjectOf(one), subjectOf(other))
}

function subjectOf({ signal, labels, match }: Inhibited) {
  const { name, reason, media } = { reason: undefined, media: undefined, ...signal }
  return { name, reason, media, labels: { ...match, ...labels } }
}

function isInhibiting({ sourceMatch, targetMatch, equal }: Inhibition, source: Inhibited, alert: Inhibited): boolean {
  const [own, other] = [valuesOf(source), valuesOf(alert)]
  return (
    matches(sourceMatch, source) &&
    matches(targetMatch, alert) &&
    !(matches(sourceMatch, alert) && matches(targetMatch, source)) &&
    equal.every((label) => own[label] === other[label])
  )
}

function valuesOf({ alert, severity, target, labels, match }: Inhibited): Partial<Record<string, string>> {
  return { alert, severity, target, ...match, ...labels }
}
