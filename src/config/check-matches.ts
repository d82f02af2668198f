import { isMap, valueAt } from '../schema/path.ts'
import { nearestKey } from '../schema/nearest-key.ts'

/** Where the section `notify` has matches. */
const MATCHING = [
  ['routes', 'match'],
  ['mutes', 'match'],
  ['inhibit', 'source_match'],
  ['inhibit', 'target_match'],
] as const

/**
 * The cross-check of the rules and targets that routes and mutes name.
 *
 * @param names of all that there are
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
        if (typeof name !== 'string' || name === '' || names[label].includes(name)) continue
        report(['notify', list, index, key, label], unknownName(name, label, names[label]))
      }
    })
  }
}

/** The same of the targets that webhooks of events name. */
export function checkWebhookTargets(
  webhooks: readonly Record<string, unknown>[],
  targets: readonly unknown[],
  report: (path: (string | number)[], message: string) => void,
): void {
  webhooks.forEach(({ targets: names }, index) => {
    if (!Array.isArray(names)) return
    names.forEach((name: unknown, place) => {
      if (typeof name !== 'string' || name === '' || targets.includes(name)) return
      report(['events', 'webhooks', index, 'targets', place], unknownName(name, 'target', targets))
    })
  })
}

/** The name itself is left out, for it may come from a variable. */
function unknownName(name: string, label: 'alert' | 'target', all: readonly unknown[]): string {
  const thing = label === 'alert' ? 'rule' : 'target'
  const known = all.filter((one) => typeof one === 'string')
  const near = nearestKey(name, known)
  if (near !== undefined) return `no ${thing} has this name; did you mean \`${near}\`?`
  if (known.length === 0) return `no ${thing} has this name; expected no \`${label}\`, since there are no ${thing}s`
  return `no ${thing} has this name; expected one of ${known.map((one) => `\`${one}\``).join(', ')}`
}
