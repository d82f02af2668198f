import { alertOf, nameOf, subjectOf, type Alert, type LiveAlert } from '../../alerts/alert.ts'
import { matches, valuesOf } from '../../alerts/match.ts'
import { isMoreSevere } from '../../alerts/match-keys.ts'
import type { NotifyConfig } from '../notify-section.ts'

/**
 * A configured inhibition: while an alert that `sourceMatch` matches fires, alerts that `targetMatch` matches wait, if their
 * labels in `equal` are the same.
 */
export type Inhibition = NotifyConfig['inhibit'][number]

/** The fields of an alert that inhibition needs. */
export type Inhibited = Pick<
  Alert,
  'target' | 'key' | 'alert' | 'severity' | 'labels' | 'match' | 'signal' | 'breach' | 'firingSince'
> & { /** When it ended (UNIX seconds); absent while it fires. */ until?: number }

/** For each alert, the firing alerts that inhibit it, among the given alerts. */
export type Inhibitors = (alerts: readonly (LiveAlert | Inhibited)[]) => (alert: Inhibited) => readonly Inhibited[]

/**
 * Alerts of the same target, signal and labels with a higher severity inhibit an alert, and so do those that a configured
 * inhibition names. No alert inhibits itself. If two alerts would inhibit each other, neither does.
 *
 * @param isNotified whether the receiver is notified of an alert. Only then can its message list the less severe ones.
 */
export function inhibition(
  rules: readonly Inhibition[],
  isNotified: (alert: Inhibited) => boolean = () => true,
): Inhibitors {
  const inhibits = (source: Inhibited, alert: Inhibited) =>
    (isWorse(source, alert) && isNotified(source)) || rules.some((rule) => isInhibiting(rule, source, alert))
  return (alerts) => {
    const sources = alerts.flatMap((one) => {
      if (!('instance' in one)) return one
      return one.instance.state === 'pending' ? [] : alertOf(one)
    })
    const onTarget = Map.groupBy(sources, ({ target }) => target)
    const named = sources.filter((source) => rules.some(({ sourceMatch }) => matches(sourceMatch, source)))
    return (alert) => {
      const mayInhibit = rules.some(({ targetMatch }) => matches(targetMatch, alert)) ? named : []
      const candidates = new Set([...(onTarget.get(alert.target) ?? []), ...mayInhibit])
      return [...candidates].filter(
        (source) => nameOf(source) !== nameOf(alert) && inhibits(source, alert) && !inhibits(alert, source),
      )
    }
  }
}

/**
 * Whether an alert is about the same calls and signal as another one, with a higher severity. Threshold and window may
 * differ.
 */
function isWorse(one: Inhibited, other: Inhibited): boolean {
  return isMoreSevere(one, other) && one.target === other.target && subjectOf(one) === subjectOf(other)
}

function isInhibiting({ sourceMatch, targetMatch, equal }: Inhibition, source: Inhibited, alert: Inhibited): boolean {
  if (!matches(targetMatch, alert) || !matches(sourceMatch, source)) return false
  const [own, other] = [valuesOf(source), valuesOf(alert)]
  return equal.every((label) => own[label] === other[label])
}
