import { formatDuration } from '../duration.ts'

/** The cross-check of a rule's threshold and of where it clears. */
export function checkThreshold(
  rule: { readonly signal?: unknown; readonly above?: unknown; readonly below?: unknown; readonly clear?: unknown },
  report: (path: string[], message: string) => void,
): void {
  const { above, below, clear } = rule
  if (above !== undefined && below !== undefined) {
    report(['below'], 'not accepted beside `above`; expected one of them')
    return
  }
  if (above === undefined && below === undefined) {
    // The only side of a poll's age says so by itself.
    if (rule.signal !== 'poll_age') report(['above'], 'missing; expected a threshold, in `above` or in `below`')
    return
  }
  if (rule.signal === 'failure_ratio' && above === 1) {
    report(['above'], 'found 1, and no ratio can be above that; expected a number below 1')
  }
  if (below === 0) report(['below'], 'found 0, and nothing can be below that; expected a number above 0')
  if (typeof clear !== 'number') return
  const shown = isTime(rule.signal) ? formatDuration : String
  if (typeof above === 'number' && clear > above) {
    report(['clear'], `found ${shown(clear)}, which is past \`above\`; expected at most ${shown(above)}`)
  }
  if (typeof below === 'number' && clear < below) {
    report(['clear'], `found ${shown(clear)}, which is past \`below\`; expected at least ${shown(below)}`)
  }
}

function isTime(signal: unknown): boolean {
  return signal === 'poll_age' || signal === 'answer_delay_p95' || signal === 'duration_mean'
}
