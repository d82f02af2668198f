import { formatDuration } from '../duration.ts'
import { isMap, valueAt } from '../../path.ts'

/** The digest is of yesterday, and of the same weekday before it, whole days both (seconds). */
const DIGEST_HISTORY = 9 * 86_400

/** The cross-check of what the digest looks back at and of how long finished calls are kept (seconds). */
export function checkDigest(
  notify: unknown,
  history: unknown,
  report: (path: (string | number)[], message: string) => void,
): void {
  if (typeof history !== 'number' || history >= DIGEST_HISTORY || !isMap(valueAt(notify, ['digest']))) return
  report(
    ['store', 'history'],
    `found ${formatDuration(history)}, and \`notify.digest\` compares the day before with the same weekday before it; ` +
      `expected at least ${formatDuration(DIGEST_HISTORY)}`,
  )
}

/** The cross-check of what rules look back at and of how long finished calls are kept (seconds). */
export function checkWindows(
  rules: readonly Record<string, unknown>[],
  history: unknown,
  report: (path: (string | number)[], message: string) => void,
): void {
  if (typeof history !== 'number') return
  const limit = `at most \`store.history\`, which is ${formatDuration(history)}`
  rules.forEach((rule, index) => {
    const { name, window } = rule
    if (typeof window !== 'number') return
    const is = `the window of the rule \`${String(name)}\` is ${formatDuration(window)}`
    if (window > history) {
      report(['alerts', index, 'window'], `${is}; expected ${limit}`)
      return
    }
    // Rules that are wrong by themselves still have the file's keys here.
    const offset = valueAt(rule['onlyIf'] ?? rule['only_if'], ['offset'])
    if (typeof offset !== 'number' || window + offset <= history) return
    report(
      ['alerts', index, 'only_if', 'offset'],
      `${is} and its \`only_if.offset\` ${formatDuration(offset)}; expected together ${limit}`,
    )
  })
}
