import { isPattern, matchesValue, patternProblem } from '../alerts/value-pattern.ts'
import { isMap, valueAt } from '../schema/path.ts'
import { unknownName } from '../schema/unknown-name.ts'

/** The places in the section `notify` that have matches. */
const MATCHING = [
  ['routes', 'match'],
  ['mutes', 'match'],
  ['inhibit', 'source_match'],
  ['inhibit', 'target_match'],
] as const

/**
 * Cross-checks the rules and targets that routes and mutes name.
 *
 * @param names of all rules and targets
 */
export function checkMatches(
  notify: unknown,
  names: { alert: readonly unknown[]; target: readonly unknown[] },
  report: (path: (string | number)[], message: string) => void,
): void {
  for (const [list, key] of MATCHING) {
    const entries = isMap(notify) ? notify[list] : undefined
    if (!Array.isArray(entries)) continue
    entries.forEach((entry, index) => {
      for (const label of ['alert', 'target'] as const) {
        const name = valueAt(entry, [key, label])
        if (typeof name !== 'string' || name === '' || patternProblem(name) !== undefined) continue
        if (names[label].some((one) => typeof one === 'string' && matchesValue(name, one))) continue
        const thing = label === 'alert' ? 'rule' : label
        const none = `no \`${label}\``
        report(['notify', list, index, key, label], unknownName(name, thing, names[label], none, isPattern(name)))
      }
    })
  }
}

/** Cross-checks the targets that webhooks of events name. */
export function checkWebhookTargets(
  webhooks: readonly Record<string, unknown>[],
  targets: readonly unknown[],
  report: (path: (string | number)[], message: string) => void,
): void {
  webhooks.forEach(({ targets: names }, index) => {
    if (!Array.isArray(names)) return
    names.forEach((name: unknown, place) => {
      if (typeof name !== 'string' || name === '' || targets.includes(name)) return
      report(['events', 'webhooks', index, 'targets', place], unknownName(name, 'target', targets, 'no `target`'))
    })
  })
}
